// kill -9 of the only host at each step of a worker's run. Acknowledged results stay, and the next host shows the run
// unchanged, waiting for a worker, or lost.

import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { HostStorageService } from "#gen/runnel/host/v1/host_storage_service_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { failpoints } from "../../../src/protocols/langbot/failpoints.ts";
import { until } from "../../harness/wait.ts";
import {
  type Accepted,
  bind,
  dispositions,
  getRun,
  HandWorker,
  hello,
  newEvent,
  type Said,
} from "../../runners/hand-worker.ts";
import { type Cluster, type Neighbour, openCluster } from "../cluster.ts";
import { isAlive } from "../crash-matrix/crew.ts";
import { expectInvariants } from "../invariants.ts";
import { expectStored, LogReader } from "../log-reader.ts";
import { Acknowledged, endOffers, expectLogged } from "./reported.ts";

/** The promise: a run whose host dies continues or fails within this time. */
const lostMaxMs = 15_000;
/** A few processes one after the other, on a busy machine. */
const cellTimeoutMs = 240_000;
/** A busy machine must not end the lease of a living host. */
const leaseMs = 3_000;

const remembered: Said = ["state.updated", { scope: "conversation", key: "step", value: 2 }];
/** The conversation has the message by then, so a plain end changes only the log. */
const spoken: Said = ["message.completed", { message: { role: "assistant", content: "hello" } }];
const plainEnd: Said = ["run.completed", { finish_reason: "stop" }];
/** Its message enters the conversation at the same time, so it is written by a transaction and not by one statement. */
const spokenEnd: Said = ["run.completed", { message: { role: "assistant", content: "bye" } }];

/** The failpoints and passes at which the host dies; the second list with an end that has a message. */
const withPlainEnd = [
  "event.written",
  "event.committed",
  "offer.committed",
  "accept.written",
  "accept.committed",
  "run.loaded",
  "report.taken",
  "batch.inserting",
  "batch.sent",
  "batch.answered",
  "batch.settled",
  "report.applied",
  "report.taken:2",
  "reported.written",
  "commit.committed",
  "report.applied:2",
  "report.taken:3",
  "terminal.writing",
  "terminal.committed",
  "terminal.announced",
  "report.applied:3",
] as const;
const withSpokenEnd = ["reported.written:2", "terminal.written", "terminal.committed", "report.applied:3"] as const;

const cells = [
  ...withPlainEnd.map((dies) => ({ dies, end: plainEnd })),
  ...withSpokenEnd.map((dies) => ({ dies, end: spokenEnd })),
];

/** Two cores start few processes at a time. */
const cellsAtOnce = 3;
const batches = Array.from({ length: Math.ceil(cells.length / cellsAtOnce) }, (_, index) => {
  const batch = cells.slice(index * cellsAtOnce, (index + 1) * cellsAtOnce);
  return [batch.map(({ dies }) => dies).join(" · "), batch] as const;
});

test.each(batches)(
  "a host that dies at %s loses nothing that it acknowledged",
  { timeout: cellTimeoutMs },
  async (_names, batch) => {
    await Promise.all(batch.map(playCell));
  },
);

test("the cells include every failpoint that only runs of workers pass", () => {
  const tried = cells.map(({ dies }) => dies.split(":")[0]);
  expect(failpoints.filter((place) => !tried.includes(place))).toEqual([]);
});

type Cell = (typeof cells)[number];

/** What the caller and the worker know when the host is gone. */
interface Story {
  readonly request: { readonly requestId: string; readonly event: ReturnType<typeof newEvent> };
  readonly acknowledged: Acknowledged;
  runId?: string;
  reader?: LogReader;
  run?: Accepted;
  hasSentEnd: boolean;
  hasEnded: boolean;
}

async function playCell({ dies, end }: Cell): Promise<void> {
  const cluster = await openCluster({ RUNNEL_RUNS_LEASE_MS: String(leaseMs) });
  const first = await cluster.start({ RUNNEL_FAILPOINT: dies });
  const request = { requestId: "once", event: newEvent() };
  const story: Story = { request, acknowledged: new Acknowledged(), hasSentEnd: false, hasEnded: false };
  const cut = await converse(first, end, story).then(
    () => undefined,
    (error: ServiceError) => error.code,
  );
  await until(`the host to die at ${dies}`, () => !isAlive(first), 60_000);
  expect([dies, cut ?? status.UNAVAILABLE]).toEqual([dies, status.UNAVAILABLE]);
  await expectSense(cluster, await cluster.startHere(), end, story);
}

async function converse({ client, target }: Neighbour, end: Said, story: Story): Promise<void> {
  const { acknowledged } = story;
  const worker = new HandWorker(target);
  await worker.register();
  await bind(client);
  const started = await client.call(RunnerService.method.startRun, story.request);
  story.runId = started.run?.runId ?? "";
  story.reader = new LogReader(story.runId);
  void story.reader.follow(client);
  const run = await worker.take();
  story.run = run;
  acknowledged.note(await worker.report(run, { 1: hello }));
  acknowledged.note(await worker.report(run, { 2: remembered, 3: spoken }));
  story.hasSentEnd = true;
  story.hasEnded = acknowledged.note(await worker.report(run, { 4: end })).ended;
}

async function expectSense(cluster: Cluster, { client, target }: Neighbour, end: Said, story: Story): Promise<void> {
  const { databaseUrl } = cluster;
  const again = await client.call(RunnerService.method.startRun, story.request);
  const runId = again.run?.runId ?? "";
  expect(runId).toBe(story.runId ?? runId);
  const found = await until(
    "the run to wait for a worker or to have ended",
    async () => {
      const run = await getRun(client, runId);
      return run?.state !== Run_State.RUNNING && run;
    },
    lostMaxMs,
  );

  const worker = new HandWorker(target);
  await worker.register();
  if (found.state === Run_State.QUEUED) {
    // No worker got the run, so another one gets it.
    expect(story.run).toBeUndefined();
    await endOffers(databaseUrl);
    const run = await worker.take();
    expect(run.runId).toBe(runId);
    await worker.report(run, { 1: hello, 2: end });
  } else if (found.state === Run_State.COMPLETED) {
    expect(story.hasSentEnd).toBe(true);
  } else {
    expect(found).toMatchObject({ state: Run_State.FAILED, failureCode: "host.run_lost" });
    expect(story.hasEnded).toBe(false);
  }

  const reader = story.reader ?? new LogReader(runId);
  expect(await reader.follow(client)).toBe(status.OK);
  await expectStored(databaseUrl, runId, reader.results);
  await expectLogged(databaseUrl, runId, story.acknowledged);
  await expectInvariants(databaseUrl);
  if (story.run !== undefined) {
    await expectOver(worker, story.run, end);
  }
}

/** The worker that had the run learns that it has ended. */
async function expectOver(worker: HandWorker, run: Accepted, end: Said): Promise<void> {
  const late = await worker.report(run, { 1: hello, 4: end });
  expect(late.ended).toBe(true);
  expect(dispositions(late)).toEqual(["IGNORED_AFTER_TERMINAL", "IGNORED_AFTER_TERMINAL"]);
  const authorization = `Bearer ${run.runToken}`;
  const ask = { runId: run.runId, scope: "conversation", key: "step" };
  const refused = await worker.client
    .call(HostStorageService.method.getState, ask, { authorization })
    .catch((error: ServiceError) => error.code);
  expect(refused).toBe(status.PERMISSION_DENIED);
}
