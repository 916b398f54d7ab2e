// kill -9 of a busy worker, twice, each time with a new one after it. Its runs fail clearly, the next worker does all others,
// and no run is given to two of them.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { keyOf } from "../../harness/credentials.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { createMovedClock } from "../../harness/moved-clock.ts";
import { startService } from "../../harness/service.ts";
import { until } from "../../harness/wait.ts";
import { testRunnerId } from "../../harness/worker.ts";
import { bind, getRun, readLog, start } from "../../runners/hand-worker.ts";
import { expectInvariants } from "../invariants.ts";
import { endOffers, loggedNumbers } from "./reported.ts";

const runsCount = 200;
const atOnce = 40;
const testTimeoutMs = 240_000;
const program = fileURLToPath(new URL("worker-process.ts", import.meta.url));

interface WorkerProcess {
  /** Ids of the runs that it was given. */
  readonly given: () => string[];
  kill(): Promise<void>;
}

function startWorkerProcess(url: string, fate: "to be killed" | "to live"): WorkerProcess {
  const name = testRunnerId.slice(testRunnerId.lastIndexOf("/") + 1);
  const words = [program, url, keyOf(), String(atOnce), testRunnerId, name, fate];
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    }
  };
  onTestFinished(kill);
  return { given: () => text.split("\n").slice(0, -1), kill };
}

test("two hundred runs of a worker that is killed twice end once each", { timeout: testTimeoutMs }, async () => {
  const clock = createMovedClock();
  const flags = { sessionsMaxConcurrent: 0, sessionsClientMaxConcurrent: 0, databasePoolSize: 8 };
  const { url, target, databaseUrl } = await startService(flags, { clock });
  const client = new GrpcClient(target);
  const workers = [startWorkerProcess(url, "to be killed")];
  await bindWhenRegistered(client, databaseUrl);
  const runs = await Promise.all(
    Array.from({ length: runsCount }, (_, index) =>
      start(client, { conversationId: `c-${index}`, input: { text: `run ${index}` } }),
    ),
  );
  for (let kills = 0; kills < 2; kills++) {
    const enough = 40 * (kills + 1);
    await until(
      "some runs to have ended and others to have words",
      async () => (await countRuns(databaseUrl, "completed")) >= enough && (await countSpeaking(databaseUrl)) > 0,
      60_000,
    );
    await workers[kills]?.kill();
    // Results that it had sent may still be taken, and are its last ones.
    await until("its runs to have failed", async () => {
      const running = await countRuns(databaseUrl, "running");
      clock.advance(running === 0 ? 0 : 10_000);
      return running === 0;
    });
    // The runs that it was offered and did not take.
    await endOffers(databaseUrl);
    workers.push(startWorkerProcess(url, kills === 0 ? "to be killed" : "to live"));
  }
  await Promise.all(runs.map((runId) => readLog(client, runId)));

  const given = workers.flatMap((worker) => worker.given());
  expect(given).toEqual([...new Set(given)]);
  const states = await Promise.all(runs.map((runId) => getRun(client, runId)));
  const lost = states.filter((run) => run?.state !== Run_State.COMPLETED);
  expect(lost.length).toBeGreaterThan(0);
  expect(lost.map((run) => run?.failureCode)).toEqual(lost.map(() => "runner.disconnected"));
  expect(lost.length).toBeLessThanOrEqual(2 * atOnce);
  for (const [index, runId] of runs.entries()) {
    const numbers = await loggedNumbers(databaseUrl, runId);
    const whole = [1, 2, 3, 4, 5, 6];
    const isWhole = states[index]?.state === Run_State.COMPLETED;
    expect([runId, numbers]).toEqual([runId, isWhole ? whole : whole.slice(0, numbers.length)]);
  }
  await expectInvariants(databaseUrl);
});

async function bindWhenRegistered(client: GrpcClient, databaseUrl: string): Promise<void> {
  await until(
    "the worker to be there",
    async () => (await query(databaseUrl, "select from runner")).length > 0,
    60_000,
  );
  // A timeout of an hour, which the moved clock does not reach.
  await bind(client, { runnerConfig: '{"timeout": null}' });
}

async function countRuns(databaseUrl: string, status: string): Promise<number> {
  return (await query(databaseUrl, "select from run where status = $1", [status])).length;
}

/** Running runs that have written results. */
async function countSpeaking(databaseUrl: string): Promise<number> {
  const text = "select distinct run_id from run_result join run on run.id = run_id where status = 'running'";
  return (await query(databaseUrl, text)).length;
}
