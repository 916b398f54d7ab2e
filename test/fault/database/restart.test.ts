// Postgres is restarted under load: cleanly, and as by a crash. Every promise holds afterwards.

import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { linesOf } from "../cluster.ts";
import { watchCommits } from "./commit-watch.ts";
import { startLoad } from "./load.ts";
import { openOwnPostgres } from "./own-postgres.ts";
import { offMaxMs, onMaxMs } from "./probe-watch.ts";
import { startOn } from "./service-on.ts";

const runs = 20;
/** A liveness probe never waits for the database; other tests share the machine. */
const livenessMaxMs = 5_000;
const restartTimeoutMs = 120_000;

// The server goes away under load and stays away until readiness is off. Runs wait for it with their unwritten results;
// readers keep their streams or get RESUME.
test.for(["fast", "immediate"] as const)(
  "a restart that is %s loses nothing that was promised",
  { timeout: restartTimeoutMs },
  async (how) => {
    const postgres = await openOwnPostgres();
    const commits = watchCommits(postgres.url);
    const { member, probes } = await startOn(postgres.url);
    const load = await startLoad(member, { runs, message: "words=150 pace=60" });
    await load.flows();

    const stoppedAtMs = performance.now();
    await postgres.stop(how);
    expect(await probes.notReadySince(stoppedAtMs)).toBeLessThan(offMaxMs);
    await postgres.start();
    const startedAtMs = performance.now();
    expect(await probes.readySince(startedAtMs)).toBeLessThan(onMaxMs);

    await load.expectNothingLost(postgres.url);
    expect([...load.codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
    expect(linesOf(member, "run.abandoned")).toEqual([]);
    expect(commits.unfounded(probes.outages)).toEqual([]);
    expect(probes.livenessMaxMs).toBeLessThan(livenessMaxMs);
    expect(await member.stop()).toBe(0);
  },
);
