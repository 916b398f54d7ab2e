// A rollout: the version before the newest migration and this one on one database. Each continues the other's work, and
// either may die.

import { toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { getRun, startRun } from "../fault/cluster.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { LogReader, textOf } from "../fault/log-reader.ts";
import { until } from "../harness/wait.ts";
import { hasHistory, type Peer, startBoth } from "./previous-version.ts";

async function readAll({ client }: Peer, runId: string): Promise<RunResult[]> {
  const reader = new LogReader(runId);
  expect(await reader.follow(client)).toBe(status.OK);
  return reader.results;
}

function bytesOf(results: readonly RunResult[]): string[] {
  return results.map((result) => Buffer.from(toBinary(RunResultSchema, result)).toString("hex"));
}

test.runIf(hasHistory())("a session or run of one version can be used through the other", async () => {
  const { previous, current, databaseUrl } = await startBoth();
  expect(current.log()).toContain("migrations.applied");
  for (const [here, there] of [
    [previous, current],
    [current, previous],
  ] as const) {
    const { sessionId, runId } = await startRun(here.client, "words=40 pace=5");
    // Followed while the other version writes it.
    const [written, followed] = await Promise.all([readAll(here, runId), readAll(there, runId)]);
    expect(bytesOf(followed)).toEqual(bytesOf(written));
    expect(written.at(-1)?.payload.case).toBe("runCompleted");
    const second = await there.client.call(SessionService.method.sendMessage, { sessionId, message: "words=3" });
    expect((await readAll(here, second.runId)).at(-1)?.payload.case).toBe("runCompleted");
    const { session } = await here.client.call(SessionService.method.getSession, { sessionId });
    expect(session).toMatchObject({ latestRunId: second.runId });
    const { runs } = await there.client.call(RunService.method.listRuns, { sessionId });
    expect(runs.map((run) => run.runId)).toEqual([second.runId, runId]);
    await there.client.call(SessionService.method.deleteSession, { sessionId });
    await expect(here.client.call(SessionService.method.getSession, { sessionId })).rejects.toMatchObject({
      code: status.NOT_FOUND,
    });
  }
  await expectInvariants(databaseUrl, { someWithoutChain: true });
});

test.runIf(hasHistory()).each(["previous", "current"] as const)(
  "a run of the %s version that dies continues in the other one",
  async (dying) => {
    const versions = await startBoth();
    const here = versions[dying];
    const there = dying === "previous" ? versions.current : versions.previous;
    const { runId } = await startRun(here.client, "words=200 pace=10");
    const reader = new LogReader(runId);
    const following = reader.follow(there.client);
    await until("20 results", () => reader.results.length >= 20);
    await here.kill();
    expect(await following).toBe(status.OK);
    expect(reader.count("turnRestarted")).toBe(1);
    const run = await getRun(there.client, runId);
    expect(run).toMatchObject({ state: Run_State.COMPLETED, takeovers: 1 });
    expect(run.lastSequence).toBe(BigInt(reader.results.length));
    expect(textOf(reader.results)).toBe(run.output);
    expect(run.output.match(/\S+/g)).toHaveLength(200);
    await expectInvariants(versions.databaseUrl, { someWithoutChain: dying === "current" });
  },
);
