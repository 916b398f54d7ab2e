// Postgres is frozen: every connection stays open and no answer comes, as with a hung disk or a paused machine. Nothing piles
// up, the service is not ready but alive, and afterwards everything continues.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { until } from "../../harness/wait.ts";
import { watchCommits } from "./commit-watch.ts";
import { startLoad } from "./load.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { offMaxMs, onMaxMs } from "./probe-watch.ts";
import { startOn } from "./service-on.ts";

/** Twice the lease. */
const frozenMs = 10_000;
/** A liveness probe never waits for the database; other tests share the machine. */
const livenessMaxMs = 5_000;
/** A statement is given up after 12 s; every call is answered within this time. */
const answerMaxMs = 20_000;
const frozenTimeoutMs = 150_000;

test("a database that is frozen for longer than the lease loses nothing that was promised", {
  timeout: frozenTimeoutMs,
}, async () => {
  const postgres = await openOwnPostgres();
  const commits = watchCommits(postgres.url);
  const { member, probes } = await startOn(postgres.url);
  const load = await startLoad(member, { runs: 20, message: "words=150 pace=60" });
  await load.flows();

  const frozenAtMs = performance.now();
  postgres.freeze();
  expect(await probes.notReadySince(frozenAtMs)).toBeLessThan(offMaxMs);
  // Calls during the freeze are refused within the limit.
  const askedAtMs = performance.now();
  const asked = await Promise.allSettled(
    Array.from({ length: 50 }, () => member.client.call(RunService.method.listRuns, {})),
  );
  const answeredMs = performance.now() - askedAtMs;
  expect(answeredMs).toBeLessThan(answerMaxMs);
  expect(asked.map((each) => (each.status === "rejected" ? each.reason.code : status.OK))).toEqual(
    asked.map(() => status.UNAVAILABLE),
  );
  await until("the freeze to have lasted", () => performance.now() - frozenAtMs > frozenMs);
  postgres.thaw();
  const thawedAtMs = performance.now();
  expect(await probes.readySince(thawedAtMs)).toBeLessThan(onMaxMs);

  await load.expectNothingLost(postgres.url);
  expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
  expect(probes.outages[0]?.reason).toContain("the database does not answer");
  expect(commits.unfounded(probes.outages)).toEqual([]);
  expect(probes.livenessMaxMs).toBeLessThan(livenessMaxMs);
  expect(await member.stop()).toBe(0);
});
