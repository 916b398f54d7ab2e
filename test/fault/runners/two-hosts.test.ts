// A worker whose calls reach two replicas in turn, as behind a load balancer: one of them works on the run, and the other
// forwards to it.

import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { type ReportResultsResponse, RunnerWorkerService } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { until } from "../../harness/wait.ts";
import {
  type Accepted,
  bind,
  dispositions,
  done,
  getRun,
  HandWorker,
  hello,
  type Said,
  start,
} from "../../runners/hand-worker.ts";
import { type Cluster, linesOf, type Member, openCluster, ownerOf, replicaIdsOf } from "../cluster.ts";
import { expectInvariants } from "../invariants.ts";
import { LogReader, readLog } from "../log-reader.ts";
import { Acknowledged, expectLogged, loggedNumbers, workerAt } from "./reported.ts";

const testTimeoutMs = 120_000;
/** No run is taken over within a test. */
const longLease = { RUNNEL_RUNS_LEASE_MS: "60000" };
const unlimited = { RUNNEL_SESSIONS_MAX_CONCURRENT: "0", RUNNEL_SESSIONS_CLIENT_MAX_CONCURRENT: "0" };

interface Stage {
  readonly cluster: Cluster;
  /** The replica where workers ask. */
  readonly asked: Member;
  /** The replica where they accept: it works on the runs. */
  readonly owner: Member;
  readonly atAsked: HandWorker;
  readonly atOwner: HandWorker;
}

async function openStage(
  environment: Readonly<Record<string, string>>,
  ofOwner: Readonly<Record<string, string>> = {},
): Promise<Stage> {
  const cluster = await openCluster({ ...unlimited, ...environment });
  const [asked, owner] = await Promise.all([cluster.start(), cluster.start(ofOwner)]);
  const atAsked = new HandWorker(asked.target);
  await atAsked.register();
  await bind(asked.client);
  return { cluster, asked, owner, atAsked, atOwner: workerAt(atAsked, owner.target) };
}

async function takeRun({ cluster, asked, owner, atAsked, atOwner }: Stage, event: object = {}): Promise<Accepted> {
  const runId = await start(asked.client, event);
  const offer = await atAsked.offer();
  expect(offer.runId).toBe(runId);
  const run = await atOwner.accept(offer);
  expect(await ownerOf(cluster.databaseUrl, runId)).toBe(replicaIdsOf(owner)[0]);
  return run;
}

/** Three results in a row. */
function threeFrom(first: number): Record<number, Said> {
  return { [first]: hello, [first + 1]: hello, [first + 2]: hello };
}

test("reports to both replicas, in turn and at once, are each applied once", {
  timeout: testTimeoutMs,
}, async () => {
  const stage = await openStage(longLease);
  const { cluster, atAsked, atOwner } = stage;
  const run = await takeRun(stage);
  const applied = ["APPLIED", "APPLIED", "APPLIED"];
  let next = 1;
  for (let round = 0; round < 20; round++) {
    const answer = await (round % 2 === 0 ? atAsked : atOwner).report(run, threeFrom(next));
    expect(dispositions(answer)).toEqual(applied);
    next += 3;
    expect(answer.ackedThrough).toBe(BigInt(next - 1));
  }
  const inOrder = next - 1;
  expect(await loggedNumbers(cluster.databaseUrl, run.runId)).toEqual(
    Array.from({ length: inOrder }, (_, index) => index + 1),
  );
  const starts: number[] = [];
  for (let round = 0; round < 20; round++) {
    const mine = [next, next + 3, next + 6];
    next += 9;
    starts.push(...mine);
    const [one = 0, two = 0, three = 0] = mine;
    const answers = await Promise.all([
      atAsked.report(run, threeFrom(one)),
      atOwner.report(run, threeFrom(two)),
      atAsked.report(run, threeFrom(three)),
    ]);
    // Their order is undefined; each must count.
    expect(answers.map((answer) => dispositions(answer).map((verdict) => verdict.split(":")[0]))).toEqual(
      answers.map(() => applied),
    );
  }
  const end = await atAsked.report(run, { [next]: done });
  expect([end.ended, ...dispositions(end)]).toEqual([true, "APPLIED"]);

  const logged = await loggedNumbers(cluster.databaseUrl, run.runId);
  expect([...logged].sort((a, b) => a - b)).toEqual(Array.from({ length: next }, (_, index) => index + 1));
  for (const first of starts) {
    const place = logged.indexOf(first);
    expect(logged.slice(place, place + 3)).toEqual([first, first + 1, first + 2]);
  }
  const kept = await atAsked.client.call(RunnerService.method.listResultVerdicts, { runId: run.runId, pageSize: 250 });
  const words = kept.verdicts.flatMap(({ diagnostics }) => diagnostics.map((each) => each.split(" ")[0]));
  expect(words.filter((word) => word !== "gap" && word !== "out_of_order")).toEqual([]);
  await expectInvariants(cluster.databaseUrl);
});

// Two replicas see the run's end differently: the one that wrote it has an answer, the other sees only that it ended.
test("the report that ends a run gets its verdicts at either replica", {
  timeout: testTimeoutMs,
}, async () => {
  const stage = await openStage(longLease);
  for (let round = 0; round < 15; round++) {
    const run = await takeRun(stage, { conversationId: `c-${round}` });
    const end = await stage.atAsked.report(run, { 1: hello, 2: done });
    expect([end.ended, end.ackedThrough, ...dispositions(end)]).toEqual([true, 2n, "APPLIED", "APPLIED"]);
    const { verdicts } = await stage.asked.client.call(RunnerService.method.listResultVerdicts, { runId: run.runId });
    expect(verdicts).toEqual([]);
  }
});

test("concurrent late reports all learn that the run has ended", { timeout: testTimeoutMs }, async () => {
  const stage = await openStage(longLease);
  const run = await takeRun(stage);
  await stage.atOwner.report(run, { 1: hello, 2: done });
  const late = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? stage.atAsked : stage.atOwner).report(run, { [index + 3]: ["odd\u0000type", {}] }),
    ),
  );
  expect(late.map((answer) => [answer.ended, ...dispositions(answer)])).toEqual(
    late.map(() => [true, "IGNORED_AFTER_TERMINAL"]),
  );
  const { verdicts } = await stage.asked.client.call(RunnerService.method.listResultVerdicts, { runId: run.runId });
  expect(verdicts.map(({ sequence }) => Number(sequence)).sort((a, b) => a - b)).toEqual([
    3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ]);
});

test("a cancel at the other replica reaches the worker there, and its last report counts", {
  timeout: testTimeoutMs,
}, async () => {
  const stage = await openStage(longLease);
  const { cluster, asked, atAsked, atOwner } = stage;
  const run = await takeRun(stage);
  const told = (async () => {
    const stream = atAsked.client.stream(RunnerWorkerService.method.listenAssignments, {
      workerSessionId: atAsked.session,
    });
    for await (const { assignment } of stream) {
      if (assignment.case === "cancel") {
        return assignment.value.runId;
      }
    }
    return undefined;
  })();
  await asked.client.call(RunService.method.cancelRun, { runId: run.runId });
  expect(await told).toBe(run.runId);
  await until("the next report to tell of it", async () => (await atAsked.report(run)).cancelRequested);
  const last = await atAsked.report(run, { 1: hello, 2: ["run.failed", { error: "stopped", code: "cancelled" }] });
  const noted = expect.stringMatching(/^APPLIED: the run was cancelled: .* replace "cancelled": "stopped"$/);
  expect([last.ended, ...dispositions(last)]).toEqual([true, "APPLIED", noted]);
  expect(await getRun(asked.client, run.runId)).toMatchObject({ state: Run_State.CANCELLED, output: "hello" });
  expect((await atOwner.report(run)).ended).toBe(true);
  await expectInvariants(cluster.databaseUrl);
});

// The replica that works on the run dies with a report that was forwarded to it: before it wrote any of it, or when
// everything was written and only the answer was missing.
test.each(["report.taken:2", "report.applied:2"])(
  "a report whose replica dies at %s is never acknowledged and lost",
  { timeout: testTimeoutMs },
  async (failpoint) => {
    const lease = { RUNNEL_RUNS_LEASE_MS: "3000" };
    const stage = await openStage(lease, { ...lease, RUNNEL_FAILPOINT: failpoint });
    const { cluster, asked, atAsked } = stage;
    const run = await takeRun(stage);
    const acknowledged = new Acknowledged();
    const reader = new LogReader(run.runId);
    const following = reader.follow(asked.client);
    acknowledged.note(await atAsked.report(run, { 1: hello }));
    const answers: ReportResultsResponse[] = [];
    await until("the run to have ended", async () => {
      try {
        const answer = await atAsked.report(run, { 2: hello });
        answers.push(acknowledged.note(answer));
        return answer.ended;
      } catch (error) {
        expect((error as ServiceError).code).toBe(status.UNAVAILABLE);
        return false;
      }
    });
    // The report was never acknowledged: the dead replica had it.
    expect(answers.flatMap(dispositions)).toEqual(["IGNORED_AFTER_TERMINAL"]);
    expect(await getRun(asked.client, run.runId)).toMatchObject({ failureCode: "host.run_lost" });
    expect(await following).toBe(status.OK);
    expect(reader.results.at(-1)?.payload.case).toBe("runFailed");
    expect(await loggedNumbers(cluster.databaseUrl, run.runId)).toEqual(failpoint === "report.taken:2" ? [1] : [1, 2]);
    await expectLogged(cluster.databaseUrl, run.runId, acknowledged);
    await expectInvariants(cluster.databaseUrl);
  },
);

// A deployment. The worker has many runs and keeps reporting to either replica; the one that works on them is asked to stop.
// The runs continue at the other one, all at once: they take none of its slots.
test("runs continue at the other replica when theirs is asked to stop", { timeout: testTimeoutMs }, async () => {
  const stage = await openStage({ ...longLease, RUNNEL_RUNS_SLOTS: "1" });
  const { cluster, asked, owner, atAsked, atOwner } = stage;
  const runs: Accepted[] = [];
  for (let index = 0; index < 5; index++) {
    runs.push(await takeRun(stage, { conversationId: `c-${index}` }));
  }
  const readers = runs.map(({ runId }) => new LogReader(runId));
  const endings = readers.map((reader) => reader.follow(asked.client));
  const stop = new AbortController();
  const working = runs.map((run) => workOn(run, [atOwner, atAsked], stop.signal));
  // Awaited below.
  void Promise.all(working).catch(() => {});
  await until("every run to have results", () => readers.every(({ results }) => results.length >= 20));

  expect(await owner.stop()).toBe(0);
  const epochs = await Promise.all(
    runs.map(({ runId }) => until("its next owner", async () => await ownerIs(cluster, runId, asked), 30_000)),
  );
  expect(epochs).toEqual(runs.map(() => true));
  const seen = readers.map(({ results }) => results.length);
  await until("every run to go on", () =>
    readers.every(({ results }, index) => results.length >= (seen[index] ?? 0) + 20),
  );
  stop.abort();
  const told = await Promise.all(working);

  expect(await Promise.all(endings)).toEqual(runs.map(() => status.OK));
  for (const [index, run] of runs.entries()) {
    const reader = readers[index] ?? expect.unreachable();
    const { acknowledged, last } = told[index] ?? expect.unreachable();
    expect(reader.count("turnRestarted")).toBe(0);
    const logged = await loggedNumbers(cluster.databaseUrl, run.runId);
    expect(logged).toEqual(Array.from({ length: last }, (_, place) => place + 1));
    expect(acknowledged.numbers).toEqual(logged);
    expect(await getRun(asked.client, run.runId)).toMatchObject({ state: Run_State.COMPLETED, takeovers: 0 });
  }
  expect(linesOf(asked, "run.lost")).toEqual([]);
  await expectInvariants(cluster.databaseUrl);
});

async function ownerIs({ databaseUrl }: Cluster, runId: string, member: Member): Promise<boolean> {
  return (await ownerOf(databaseUrl, runId)) === replicaIdsOf(member)[0];
}

/** Reports results one by one, each until it is acknowledged, and sometimes repeats an old one; ends the run at `stop`. */
async function workOn(
  run: Accepted,
  replicas: readonly HandWorker[],
  stop: AbortSignal,
): Promise<{ acknowledged: Acknowledged; last: number }> {
  const acknowledged = new Acknowledged();
  let turn = 0;
  const report = async (results: Record<number, Said>): Promise<ReportResultsResponse> =>
    await until("an answer", async () => {
      const replica = replicas[turn++ % replicas.length] ?? expect.unreachable();
      try {
        return acknowledged.note(await replica.report(run, results));
      } catch (error) {
        expect((error as ServiceError).code).toBe(status.UNAVAILABLE);
        return false;
      }
    });
  let next = 1;
  while (!stop.aborted) {
    expect((await report({ [next]: hello })).ended).toBe(false);
    if (next % 7 === 0) {
      expect(dispositions(await report({ [next - 3]: hello }))).toEqual(["DROPPED_DUPLICATE"]);
    }
    next++;
  }
  expect(await report({ [next]: done })).toMatchObject({ ended: true });
  return { acknowledged, last: next };
}

test("a run whose replica dies while handing it on fails or continues", { timeout: testTimeoutMs }, async () => {
  for (const failpoint of ["hand-on.stopping", "hand-on.committed"]) {
    const lease = { RUNNEL_RUNS_LEASE_MS: "3000" };
    const stage = await openStage(lease, { ...lease, RUNNEL_FAILPOINT: failpoint });
    const { cluster, asked, owner, atAsked, atOwner } = stage;
    const run = await takeRun(stage);
    await atOwner.report(run, { 1: hello });
    expect(await owner.stop()).toBe(null);
    const answer = await until(
      "an answer",
      async () => await atAsked.report(run, { 1: hello, 2: hello }).catch(() => undefined),
    );
    if (answer.ended) {
      expect(await getRun(asked.client, run.runId)).toMatchObject({ failureCode: "host.run_lost" });
    } else {
      expect(dispositions(answer)).toEqual(["DROPPED_DUPLICATE", "APPLIED"]);
      expect((await atAsked.report(run, { 3: done })).ended).toBe(true);
      expect(await getRun(asked.client, run.runId)).toMatchObject({ state: Run_State.COMPLETED });
    }
    expect(answer.ended).toBe(failpoint === "hand-on.stopping");
    await readLog(asked.client, run.runId);
    await expectInvariants(cluster.databaseUrl);
  }
});
