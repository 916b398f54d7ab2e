// kill -9 at each step of a summary: the next replica has it, or asks for it again, and no fact is lost.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Failpoint } from "../../src/platform/base/failpoint.ts";
import { openTeam } from "../child-runs/team.ts";
import { compaction, filler, reader, writer } from "../compaction/long-task.ts";
import { openFolder } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { getRun, openCluster } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const { createSession, sendMessage } = SessionService.method;
const turns = 8;

/** The third response is followed by the first summary, the sixth by the second one. */
const steps: readonly (readonly [failpoint: Failpoint, pass: number])[] = [
  ["model.calling", 4],
  ["model.first-part", 4],
  ["model.finished", 4],
  ["checkpoint.written", 7],
  ["commit.committed", 7],
  ["model.calling", 5],
  ["commit.committed", 8],
  ["model.calling", 8],
  ["checkpoint.written", 14],
  ["commit.committed", 14],
];

test.each(steps)("a summary survives a kill at %s:%i", async (failpoint, pass) => {
  const team = await openTeam({ reader: reader(turns), writer });
  const cluster = await openCluster({
    RUNNEL_DEFAULTS_MODEL: "compatible:team",
    RUNNEL_PROVIDERS_COMPATIBLE_BASE_URL: `${team.origin}/v1`,
  });
  const workDir = await openFolder();
  await mkdir(workDir, { recursive: true });
  const lines = Array.from({ length: turns + 150 }, (_, line) => `${line} ${filler(250)}`);
  await writeFile(join(workDir, "long.txt"), lines.join("\n"));
  const first = await cluster.start({ RUNNEL_FAILPOINT: `${failpoint}:${pass}` });
  const agent = {
    ...{ name: "reader", systemPrompt: "reader", maxTurns: turns + 1, compaction },
    tools: { builtin: ["read_file", "list_dir"] },
  };
  const { sessionId } = await first.client.call(createSession, { agent, workDir });
  const { runId } = await first.client.call(sendMessage, { sessionId, message: "Remember FACT-1." });
  await until("the first process to die", async () => !isAlive(first));
  const { client } = await cluster.startHere();
  await until("the run to end", async () => (await getRun(client, runId)).state === Run_State.COMPLETED);
  expect((await getRun(client, runId)).output).toBe("I know FACT-1");
  const log = new LogReader(runId);
  expect(await log.follow(client)).toBe(status.OK);
  const written = log.results.filter(({ payload }) => payload.case === "contextCompacted");
  const stored = await query(cluster.databaseUrl, "select through from compaction");
  expect(written).toHaveLength(stored.length);
  expect(written.length).toBeGreaterThanOrEqual(2);
  await expectInvariants(cluster.databaseUrl);
});
