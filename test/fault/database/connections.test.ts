// Other clients use up the connections of the server: ours are gone, and no new ones are available.

import { status } from "@grpc/grpc-js";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { limitedUser, query, testDatabase } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { startLoad } from "./load.ts";
import { offMaxMs, onMaxMs } from "./probe-watch.ts";
import { startOn } from "./service-on.ts";

/** The maximum of the server. */
const connectionsMax = 20;
const connectionsTimeoutMs = 120_000;

// Other clients take every connection that becomes free, and ours break one after the other, until none is left. They stay
// until readiness is off.
test("a server without free connections loses nothing that was promised", {
  timeout: connectionsTimeoutMs,
}, async () => {
  const { databaseUrl, user, probes, expectNothingLost } = await startLoaded();

  const others = new Others(user.url);
  await until("others to have them all", async () => {
    await others.take();
    await query(
      databaseUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'runnel%'`,
    );
    return others.count === connectionsMax;
  });
  const takenAtMs = performance.now();
  expect(await probes.notReadySince(takenAtMs)).toBeLessThan(offMaxMs);
  await others.leave();
  const leftAtMs = performance.now();
  expect(await probes.readySince(leftAtMs)).toBeLessThan(onMaxMs);

  await expectNothingLost();
});

// As while a password is replaced, or a new primary has other rules for logins.
test("a login that is refused for a while loses nothing that was promised", {
  timeout: connectionsTimeoutMs,
}, async () => {
  const { databaseUrl, user, probes, expectNothingLost } = await startLoaded();

  await query(
    databaseUrl,
    `alter role ${user.name} nologin;
     select pg_terminate_backend(pid) from pg_stat_activity where usename = '${user.name}'`,
  );
  const refusedAtMs = performance.now();
  expect(await probes.notReadySince(refusedAtMs)).toBeLessThan(offMaxMs);
  await query(databaseUrl, `alter role ${user.name} login`);
  const admittedAtMs = performance.now();
  expect(await probes.readySince(admittedAtMs)).toBeLessThan(onMaxMs);

  await expectNothingLost();
});

/** Starts a service under load, with a login of its own. */
async function startLoaded() {
  const databaseUrl = await testDatabase();
  const user = await limitedUser(databaseUrl, connectionsMax);
  const { member, probes } = await startOn(user.url);
  const load = await startLoad(member, { runs: 8, message: "words=150 pace=60" });
  await load.flows();
  return {
    ...{ databaseUrl, user, probes },
    expectNothingLost: async (): Promise<void> => {
      await load.expectNothingLost(databaseUrl);
      expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
      expect(await member.stop()).toBe(0);
    },
  };
}

class Others {
  readonly #url: string;
  readonly #clients = new Set<pg.Client>();

  constructor(url: string) {
    this.#url = url;
    onTestFinished(() => this.leave());
  }

  get count(): number {
    return this.#clients.size;
  }

  /** Takes connections until the server refuses one. */
  async take(): Promise<void> {
    for (;;) {
      const client = new pg.Client({ connectionString: this.#url, application_name: "others" });
      client.on("error", () => {});
      try {
        await client.connect();
      } catch {
        return;
      }
      this.#clients.add(client);
    }
  }

  async leave(): Promise<void> {
    const clients = [...this.#clients];
    this.#clients.clear();
    await Promise.all(clients.map((client) => client.end()));
  }
}
