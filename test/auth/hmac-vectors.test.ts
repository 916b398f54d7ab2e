// The shared acceptance cases for signed requests, in file order, against a service whose clock stands still.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/platform/base/clock.ts";
import { openCuttingProxy } from "../harness/cutting-proxy.ts";
import { testDatabase } from "../harness/database.ts";
import { type RawAnswer, sendRaw } from "../harness/raw-http.ts";
import { startService, type TestService } from "../harness/service.ts";

interface HmacCase {
  readonly id: string;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
  readonly body_base64?: string;
  readonly generate?: string;
  readonly expect_status: number;
  readonly may_status?: readonly number[];
  readonly replica?: number;
  readonly before?: string;
  readonly server_time?: number;
  readonly first_use_at?: number;
  readonly scheme?: "v2";
}

interface Vectors {
  readonly now: number;
  readonly secrets_by_client: Readonly<Record<string, string>>;
  readonly fixtures: Readonly<Record<string, readonly string[]>>;
  readonly cases: readonly HmacCase[];
}

const vectors: Vectors = JSON.parse(readFileSync(join(import.meta.dirname, "../vectors/hmac.json"), "utf8"));

/** Wall time as the cases set it; all other clocks run. */
const clock = { ...systemClock, nowMs: () => seconds * 1_000 };
let seconds = vectors.now;

const authApiKeys = Object.entries(vectors.secrets_by_client).map(([client, key]) => ({ client, key }));

/** Services that share one database. */
class Cluster {
  readonly #databaseUrl: string;
  readonly #acceptV1: boolean;
  #replicas = new Map<number, TestService>();

  constructor(databaseUrl: string, acceptV1: boolean) {
    this.#databaseUrl = databaseUrl;
    this.#acceptV1 = acceptV1;
  }

  async replica(number: number): Promise<TestService> {
    const known = this.#replicas.get(number);
    if (known !== undefined) {
      return known;
    }
    const flags = { databaseUrl: this.#databaseUrl, authApiKeys, authHmacV1: this.#acceptV1 };
    const service = await startService(flags, { clock });
    this.#replicas.set(number, service);
    return service;
  }

  async restart(): Promise<void> {
    await Promise.all([...this.#replicas.values()].map((service) => service.close()));
    this.#replicas = new Map();
  }
}

test("every case gets its expected status", async () => {
  seconds = vectors.now;
  const proxy = await openCuttingProxy(await testDatabase());
  const cluster = new Cluster(proxy.url, true);
  await createFixtures(await cluster.replica(1));
  for (const each of vectors.cases.filter(({ scheme }) => scheme === undefined)) {
    if (each.before === "kill -9 and restart") {
      await cluster.restart();
    }
    const { url } = await cluster.replica(each.replica ?? 1);
    if (each.first_use_at !== undefined) {
      seconds = each.first_use_at;
      expect((await send(url, each)).status, `${each.id}, first use`).toBe(201);
    }
    seconds = each.server_time ?? vectors.now;
    if (each.before === "stop Postgres") {
      proxy.breakDown();
    }
    const { status } = await send(url, each);
    expect([each.expect_status, ...(each.may_status ?? [])], `${each.id} ${each.name}: ${status}`).toContain(status);
    proxy.mend();
  }
});

test("with v1 switched off a v1 signature is refused, and a v2 signature is invalid for another path", async () => {
  seconds = vectors.now;
  const cluster = new Cluster(await testDatabase(), false);
  const service = await cluster.replica(1);
  const cases = vectors.cases.filter(({ scheme, name }) => scheme === "v2" || name === "valid POST");
  expect(cases.length).toBeGreaterThan(1);
  for (const each of cases) {
    expect((await send(service.url, each)).status, each.id).toBe(401);
  }
});

async function createFixtures(service: TestService): Promise<void> {
  for (const [client, sessionIds] of Object.entries(vectors.fixtures)) {
    for (const sessionId of sessionIds) {
      const body = JSON.stringify({ session_id: sessionId, agent: { name: "fixture" } });
      const headers = { "X-Client-ID": client, "X-Timestamp": String(vectors.now), "X-Nonce": `fixture-${sessionId}` };
      const answer = await send(service.url, {
        ...{ id: "fixture", name: sessionId, expect_status: 201, method: "POST", path: "/v1/sessions", body },
        headers: { ...headers, "X-Signature": "<valid>" },
      });
      expect(answer.status).toBe(201);
    }
  }
}

async function send(url: string, each: HmacCase): Promise<RawAnswer> {
  const body = bodyOf(each);
  const headers = Object.entries(each.headers).flatMap(([name, value]) =>
    [value].flat().map((text) => [name, text === "<valid>" ? sign(each, body) : text] as const),
  );
  return await sendRaw(url, {
    method: each.method,
    path: each.path,
    headers,
    ...(body.byteLength > 0 && { body }),
  });
}

function bodyOf({ body = "", body_base64, generate }: HmacCase): Buffer {
  const size = /^(\d+) × "(.)"$/.exec(generate ?? "");
  if (size !== null) {
    return Buffer.alloc(Number(size[1]), size[2]);
  }
  return body_base64 === undefined ? Buffer.from(body) : Buffer.from(body_base64, "base64");
}

function sign({ headers }: HmacCase, body: Buffer): string {
  const secret = vectors.secrets_by_client[String(headers["X-Client-ID"])] ?? "";
  const text = Buffer.concat([Buffer.from(`${headers["X-Timestamp"]}.${headers["X-Nonce"]}.`), body]);
  return `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
}
