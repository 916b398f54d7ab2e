// Postgres goes away for five seconds while workers keep reporting: it is frozen, or it dies and comes back. No report is
// acknowledged while it is away, and every acknowledged result is in the log.

import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { until } from "../../harness/wait.ts";
import { type Accepted, bind, done, getRun, HandWorker, hello, type Said, start } from "../../runners/hand-worker.ts";
import { linesOf } from "../cluster.ts";
import { openOwnPostgres } from "../database/own-postgres.ts";
import { startOn } from "../database/service-on.ts";
import { expectInvariants } from "../invariants.ts";
import { loggedNumbers } from "./reported.ts";

const awayMs = 5_000;
const runsCount = 6;
const testTimeoutMs = 180_000;

/** The times of a report that was acknowledged. */
interface Acknowledgement {
  readonly sentMs: number;
  readonly answeredMs: number;
}

test.for(["frozen", "killed"] as const)(
  "a database that is %s for 5 s loses no acknowledged result",
  { timeout: testTimeoutMs },
  async (how) => {
    const postgres = await openOwnPostgres();
    const { member } = await startOn(postgres.url, { RUNNEL_SESSIONS_CLIENT_MAX_CONCURRENT: "0" });
    const worker = new HandWorker(member.target);
    await worker.register();
    await bind(member.client);
    const runs: Accepted[] = [];
    for (let index = 0; index < runsCount; index++) {
      await start(member.client, { conversationId: `c-${index}` });
      runs.push(await worker.take());
    }
    const over = new AbortController();
    const acknowledged: Acknowledgement[] = [];
    const codes = new Set<status>();
    const working = runs.map((run) => workOn({ worker, run, acknowledged, codes, over: over.signal }));
    // Awaited below.
    void Promise.all(working).catch(() => {});
    await until("the runs to flow", () => acknowledged.length > 10 * runsCount);

    const wentMs = performance.now();
    await (how === "frozen" ? postgres.freeze() : postgres.stop("immediate"));
    const goneMs = performance.now();
    await until("the time to pass", () => performance.now() - wentMs > awayMs);
    const backMs = performance.now();
    await (how === "frozen" ? postgres.thaw() : postgres.start());

    await until("the runs to flow again", () => acknowledged.some(({ sentMs }) => sentMs > backMs), 60_000);
    over.abort();
    const lasts = await Promise.all(working);

    expect(acknowledged.filter(({ sentMs, answeredMs }) => sentMs > goneMs && answeredMs < backMs)).toEqual([]);
    expect([...codes].filter((code) => code !== status.UNAVAILABLE)).toEqual([]);
    for (const [index, { runId }] of runs.entries()) {
      const run = await getRun(member.client, runId);
      expect(run).toMatchObject({ state: Run_State.COMPLETED, takeovers: 0 });
      const count = lasts[index] ?? 0;
      expect(await loggedNumbers(postgres.url, runId)).toEqual(Array.from({ length: count }, (_, place) => place + 1));
    }
    expect(linesOf(member, "driver.failed")).toEqual([]);
    await expectInvariants(postgres.url);
    expect(await member.stop()).toBe(0);
  },
);

/** Sends reports of each kind that has its own write path, each repeated until it is acknowledged; then ends the run. */
async function workOn(options: {
  worker: HandWorker;
  run: Accepted;
  acknowledged: Acknowledgement[];
  codes: Set<status>;
  over: AbortSignal;
}): Promise<number> {
  const { worker, run, acknowledged, codes, over } = options;
  const report = async (results: Record<number, Said>): Promise<boolean> =>
    await until(
      "an acknowledgement",
      async () => {
        const sentMs = performance.now();
        try {
          const { ended } = await worker.report(run, results);
          acknowledged.push({ sentMs, answeredMs: performance.now() });
          return { ended };
        } catch (error) {
          codes.add((error as ServiceError).code);
          return undefined;
        }
      },
      60_000,
    ).then(({ ended }) => ended);
  let next = 1;
  for (; !over.aborted; next++) {
    const artifactId = `${run.runId}-${next}`;
    const kinds: readonly Said[] = [
      hello,
      ["state.updated", { scope: "conversation", key: "step", value: next }],
      ["artifact.created", { artifact_type: "text", artifact_id: artifactId, content_base64: "aGVsbG8=" }],
    ];
    expect(await report({ [next]: kinds[next % kinds.length] ?? hello })).toBe(false);
  }
  expect(await report({ [next]: done })).toBe(true);
  return next;
}
