// Actions of runners that require an approval: who decides, what the runner learns, and that an approval is good for one use.

import { createHash } from "node:crypto";
import { createClient } from "@connectrpc/connect";
import { test as base, describe, expect } from "vitest";
import { HostRunService } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { RunnerWorkerService } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService, type WatchApprovalsResponse } from "#gen/runnel/v1/approval_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { retention } from "../../src/app/protocols.ts";
import { emptyApprovals } from "../../src/engine/storage/approval.ts";
import { eraseContents } from "../../src/engine/storage/erase.ts";
import { connectHttp2Transport } from "../conformance/transports.ts";
import { credentialsOf, defaultClientId } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { GrpcClient, reasonOf } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { connect } from "../runlog/store.ts";
import { type Accepted, bind, dispositions, done, hello, openWorkerStage, type Said, start } from "./hand-worker.ts";

const test = base.extend("stage", () => openService());

const { PENDING, APPROVED, REJECTED, EXPIRED, USED } = Approval_State;
const { APPROVE, REJECT } = Approval_Decision;
const ban: Said = ["action.requested", { action: "ban", target: { user: "u-2" }, payload: { days: 3 } }];

async function openService(approvalPolicy: object | null = { required: true }) {
  const stage = await openWorkerStage({ binding: approvalPolicy === null ? {} : { approvalPolicy } });
  const { client, hostOf } = stage;
  return {
    ...stage,
    /** Calls GetApproval as the runner of the run. */
    ask: async (run: Accepted, more: { sequence?: bigint; useId?: string; waitSeconds?: number } = {}) =>
      await hostOf(run).call(HostRunService.method.getApproval, {
        runId: run.runId,
        sequence: 1n,
        useId: "use-1",
        ...more,
      }),
    decide: async (approval: Approval, decision = APPROVE, more: object = {}) =>
      await client.call(ApprovalService.method.decideApproval, { ...idOf(approval), decision, ...more }),
    get: async ({ approvalId }: Approval) =>
      (await client.call(ApprovalService.method.getApproval, { approvalId })).approval,
  };
}

/** The terminal result of a stopped run; its service waits for it. */
const stopped: Said = ["run.failed", { error: "stopped", code: "cancelled" }];

type Stage = Awaited<ReturnType<typeof openService>>;

function idOf({ approvalId, digest }: Approval) {
  return { approvalId, digest };
}

/** Starts a run, takes it, and reports an action that needs approval. */
async function askedRun({ client, worker }: Pick<Stage, "client" | "worker">, said: Said = ban) {
  await start(client);
  const run = await worker.take();
  await worker.report(run, { 1: said });
  return { run, approval: await onlyApproval(client, run.runId) };
}

async function onlyApproval(client: GrpcClient, runId: string): Promise<Approval> {
  const { approvals } = await client.call(ApprovalService.method.listApprovals, { runId });
  expect(approvals).toHaveLength(1);
  return approvals[0] as Approval;
}

async function logOf(client: GrpcClient, runId: string) {
  return (await client.call(RunService.method.listRunResults, { runId })).results;
}

test("without the policy an action is telemetry and creates no approval", async () => {
  for (const policy of [null, { required: false, expireSeconds: 60 }]) {
    const { client, worker, ask } = await openService(policy);
    await start(client);
    const run = await worker.take();
    expect(dispositions(await worker.report(run, { 1: ban }))).toEqual(["TELEMETRY"]);
    expect((await logOf(client, run.runId)).map(({ payload }) => payload.case)).toEqual(["actionRequested"]);
    expect((await client.call(ApprovalService.method.listApprovals, {})).approvals).toEqual([]);
    expect(await ask(run).catch(reasonOf)).toBe("GRANT_REFUSED");
  }
});

test("an action that needs approval is in the log, followed by its approval, which has all the details", async () => {
  const { client, worker, get } = await openService();
  await start(client);
  const run = await worker.take();
  const said = { 1: hello, 2: ban, 3: hello } as const;
  expect(dispositions(await worker.report(run, said))).toEqual(["APPLIED", "APPLIED", "APPLIED"]);
  const results = await logOf(client, run.runId);
  expect(results.map(({ sequence, payload, runnerSequence }) => [sequence, payload.case, runnerSequence])).toEqual([
    [1n, "messageDelta", 1n],
    [2n, "actionRequested", 2n],
    [3n, "approvalRequested", 0n],
    [4n, "messageDelta", 3n],
  ]);
  const listed = await onlyApproval(client, run.runId);
  const approval = await get(listed);
  const request = '{"action":"ban","target":{"user":"u-2"},"payload":{"days":3}}';
  const digest = createHash("sha256").update(request).digest("hex");
  expect(approval).toMatchObject({
    runId: run.runId,
    runnerSequence: 2n,
    action: "ban",
    state: PENDING,
    request,
    digest,
  });
  expect(approval).toMatchObject({ decision: Approval_Decision.UNSPECIFIED, decidedBy: "" });
  // Lists leave out the request.
  expect(listed).toEqual({ ...approval, request: undefined });
  expect(results[2]?.payload.value).toMatchObject({
    approvalId: approval?.approvalId,
    action: "ban",
    digest,
    actionSequence: 2n,
    expireTime: approval?.expireTime,
  });
  // The same report again creates no second approval.
  expect(dispositions(await worker.report(run, said))).toEqual(Array(3).fill("DROPPED_DUPLICATE"));
  await onlyApproval(client, run.runId);
});

test("a request keeps the runner's text exactly, and leaves out missing members", async ({ stage }) => {
  await start(stage.client);
  const run = await stage.worker.take();
  const data = '{ "payload": {"n": 9007199254740993, "x": 1.0, "t": "\\u00e9"}, "action": "a\\u0000b" }';
  const results = [{ sequence: 1n, type: "action.requested", data }];
  const { runId, runToken } = run;
  await stage.worker.client.call(RunnerWorkerService.method.reportResults, { runId, attempt: 1, runToken, results });
  const approval = await stage.get(await onlyApproval(stage.client, run.runId));
  expect(approval?.request).toBe('{"action":"a\\u0000b","payload":{"n":9007199254740993,"x":1.0,"t":"\\u00e9"}}');
  expect(approval?.action).toBe("a\ufffdb");
});

test("an action in the report that ends the run gets an approval that is already expired", async ({ stage }) => {
  await start(stage.client);
  const run = await stage.worker.take();
  await stage.worker.report(run, { 1: ban, 2: done });
  expect((await logOf(stage.client, run.runId)).map(({ payload }) => payload.case)).toEqual([
    "actionRequested",
    "approvalRequested",
    "runCompleted",
  ]);
  const approval = await onlyApproval(stage.client, run.runId);
  expect(approval.state).toBe(EXPIRED);
  expect(await stage.decide(approval).catch(reasonOf)).toBe("APPROVAL_EXPIRED");
});

test("the policy is frozen when the run starts", async ({ stage: { client, worker } }) => {
  await start(client);
  await bind(client, {});
  const run = await worker.take();
  await worker.report(run, { 1: ban });
  await onlyApproval(client, run.runId);
});

test("an approval expires after the policy's time", async () => {
  for (const [expireSeconds, seconds] of [
    [0, 900],
    [77, 77],
  ]) {
    const stage = await openService({ required: true, expireSeconds });
    await askedRun(stage);
    const rows = await query(
      stage.databaseUrl,
      "select extract(epoch from expire_time - create_time)::float8 as s from approval",
    );
    // The two times are measured one after the other.
    expect(Math.abs(Number(rows[0]?.s) - Number(seconds))).toBeLessThan(60);
  }
});

test("approvals are listed newest first, by run, by state and in pages", async ({ stage }) => {
  const { client, worker, decide } = stage;
  const first = await askedRun(stage);
  const second = await askedRun(stage);
  await worker.report(second.run, { 2: ban });
  const all = (await client.call(ApprovalService.method.listApprovals, {})).approvals;
  expect(all.map(({ runId, runnerSequence }) => [runId, runnerSequence])).toEqual([
    [second.run.runId, 2n],
    [second.run.runId, 1n],
    [first.run.runId, 1n],
  ]);
  await decide(second.approval, REJECT);
  const states = async (request: object) =>
    (await client.call(ApprovalService.method.listApprovals, request)).approvals.map(({ approvalId }) => approvalId);
  const [newest, rejected, oldest] = all.map(({ approvalId }) => approvalId);
  expect(await states({ state: PENDING })).toEqual([newest, oldest]);
  expect(await states({ state: REJECTED })).toEqual([rejected]);
  expect(await states({ state: PENDING, runId: first.run.runId })).toEqual([oldest]);
  const page = await client.call(ApprovalService.method.listApprovals, { pageSize: 2 });
  expect(page.approvals).toHaveLength(2);
  expect(await states({ pageSize: 2, pageToken: page.nextPageToken })).toEqual([oldest]);
});

describe("a decision", () => {
  test("to approve reaches the waiting runner, with the digest and the comment", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    expect(await stage.ask(run)).toMatchObject({ state: PENDING, approvalId: approval.approvalId });
    const heard = stage.ask(run, { waitSeconds: 20 });
    const { approval: decided } = await stage.decide(approval, APPROVE, { comment: "fine", decidedBy: "ada" });
    expect(decided).toMatchObject({ state: APPROVED, decision: APPROVE, decidedBy: "ada", comment: "fine" });
    expect(decided?.decideTime).toBeDefined();
    expect(await heard).toMatchObject({ state: APPROVED, digest: approval.digest, comment: "fine" });
    expect(await stage.get(approval)).toMatchObject({ state: USED, decision: APPROVE, decidedBy: "ada" });
  });

  test("to reject reaches the runner each time that it asks", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    const { approval: decided } = await stage.decide(approval, REJECT, { comment: "no" });
    // Without `decided_by` it is the client's id.
    expect(decided).toMatchObject({ state: REJECTED, decision: REJECT, decidedBy: defaultClientId });
    for (const useId of ["one", "other"]) {
      expect(await stage.ask(run, { useId })).toMatchObject({ state: REJECTED, comment: "no" });
    }
  });

  test("with another digest changes nothing", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    const digest = "0".repeat(64);
    expect(await stage.decide(approval, APPROVE, { digest }).catch(reasonOf)).toBe("APPROVAL_CHANGED");
    expect(await stage.ask(run)).toMatchObject({ state: PENDING });
    await stage.decide(approval);
    expect(await stage.decide(approval, APPROVE, { digest }).catch(reasonOf)).toBe("APPROVAL_CHANGED");
  });

  test("is final: the same decision gets the same answer, another one is refused", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    const [one, other] = [await stage.decide(approval), await stage.decide(approval)];
    expect(other).toEqual(one);
    expect(await stage.decide(approval, REJECT).catch(reasonOf)).toBe("APPROVAL_DECIDED");
    expect(await stage.decide(approval, APPROVE, { decidedBy: "eve" }).catch(reasonOf)).toBe("APPROVAL_DECIDED");
    expect(await stage.decide(approval, APPROVE, { comment: "mine" }).catch(reasonOf)).toBe("APPROVAL_DECIDED");
    expect(await stage.ask(run)).toMatchObject({ state: APPROVED });
    // A retry works even long after, when the first answer was lost.
    expect((await stage.decide(approval)).approval).toMatchObject({ state: USED });
  });

  test("wins alone when several are made at once", async ({ stage }) => {
    for (let round = 0; round < 10; round++) {
      const { run, approval } = await askedRun(stage);
      const outcomes = await Promise.all(
        [APPROVE, REJECT, APPROVE, REJECT].map((decision, index) =>
          stage.decide(approval, decision, { decidedBy: `d-${index}` }).catch(reasonOf),
        ),
      );
      const won = outcomes.filter((outcome) => typeof outcome === "object");
      expect(outcomes.filter((outcome) => outcome === "APPROVAL_DECIDED")).toHaveLength(3);
      const { state } = await stage.ask(run);
      expect(won).toMatchObject([{ approval: { decision: state === APPROVED ? APPROVE : REJECT } }]);
      expect([APPROVED, REJECTED]).toContain(state);
      await stage.worker.report(run, { 2: done });
    }
  });

  test("after the expiry is refused, and the runner learns of the expiry", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    await query(stage.databaseUrl, "update approval set expire_time = now()");
    expect(await stage.decide(approval).catch(reasonOf)).toBe("APPROVAL_EXPIRED");
    expect(await stage.ask(run, { waitSeconds: 20 })).toMatchObject({ state: EXPIRED });
    expect(await stage.get(approval)).toMatchObject({ state: EXPIRED, decision: Approval_Decision.UNSPECIFIED });
  });

  test("after the end of the run is refused", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    await stage.worker.report(run, { 2: done });
    expect(await stage.get(approval)).toMatchObject({ state: EXPIRED });
    expect(await stage.decide(approval).catch(reasonOf)).toBe("APPROVAL_EXPIRED");
    expect(await stage.ask(run).catch(reasonOf)).toBe("GRANT_REFUSED");
  });

  test("is possible only for the client that owns the approval", async ({ stage }) => {
    const { approval } = await askedRun(stage);
    const stranger = new GrpcClient(stage.target, credentialsOf("stranger"));
    const { approvalId } = approval;
    expect(await stranger.call(ApprovalService.method.getApproval, { approvalId }).catch(reasonOf)).toBe(
      "APPROVAL_NOT_FOUND",
    );
    const wanted = { ...idOf(approval), decision: APPROVE };
    expect(await stranger.call(ApprovalService.method.decideApproval, wanted).catch(reasonOf)).toBe(
      "APPROVAL_NOT_FOUND",
    );
    expect((await stranger.call(ApprovalService.method.listApprovals, {})).approvals).toEqual([]);
    expect(await stage.get(approval)).toMatchObject({ state: PENDING });
  });

  test("must name a decision and a valid digest", async ({ stage }) => {
    const { approval } = await askedRun(stage);
    expect(await stage.decide(approval, Approval_Decision.UNSPECIFIED).catch(reasonOf)).toBe("INVALID_ARGUMENT");
    for (const change of [
      { digest: "" },
      { digest: approval.digest.toUpperCase() },
      { comment: "\0" },
      { approvalId: "x" },
    ]) {
      expect(await stage.decide(approval, APPROVE, change).catch(reasonOf)).toBe("INVALID_ARGUMENT");
    }
    expect(await stage.get(approval)).toMatchObject({ state: PENDING });
  });
});

describe("an approval", () => {
  test("is handed out for one use, and again to the same use id", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    await stage.decide(approval);
    expect(await stage.ask(run, { useId: "one" })).toMatchObject({ state: APPROVED });
    expect(await stage.ask(run, { useId: "other" })).toMatchObject({ state: USED });
    // The repetition also works after the expiry, because the approval is already in use.
    await query(stage.databaseUrl, "update approval set expire_time = now()");
    expect(await stage.ask(run, { useId: "one" })).toMatchObject({ state: APPROVED });
    expect(await stage.ask(run, { useId: "other" })).toMatchObject({ state: USED });
  });

  test("is handed out once, even to concurrent calls", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    await stage.decide(approval);
    const states = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => (await stage.ask(run, { useId: `use-${index}` })).state),
    );
    expect(states.toSorted()).toEqual([APPROVED, ...Array(7).fill(USED)].toSorted());
  });

  test("expires when no runner uses it in time", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    await stage.decide(approval);
    await query(stage.databaseUrl, "update approval set expire_time = now()");
    expect(await stage.ask(run)).toMatchObject({ state: EXPIRED });
    expect(await stage.get(approval)).toMatchObject({ state: EXPIRED, decision: APPROVE });
  });

  test("belongs to one run: the token of another run cannot get it", async ({ stage }) => {
    const one = await askedRun(stage);
    await start(stage.client);
    const other = await stage.worker.take();
    await stage.decide(one.approval);
    expect(await stage.ask({ ...one.run, runToken: other.runToken }).catch(reasonOf)).toBe("GRANT_REFUSED");
    expect(await stage.ask(other).catch(reasonOf)).toBe("APPROVAL_NOT_FOUND");
    expect(await stage.ask(one.run)).toMatchObject({ state: APPROVED });
  });

  test("may be requested before its result has arrived", async ({ stage }) => {
    await start(stage.client);
    const run = await stage.worker.take();
    const heard = stage.ask(run, { waitSeconds: 20 });
    await stage.worker.report(run, { 1: ban });
    await stage.decide(await onlyApproval(stage.client, run.runId));
    expect(await heard).toMatchObject({ state: APPROVED });
  });

  test("does not exist for a dropped result", async ({ stage }) => {
    await start(stage.client);
    const run = await stage.worker.take();
    expect(dispositions(await stage.worker.report(run, { 1: ["action.requested", {}] }))[0]).toMatch(
      /^DROPPED_INVALID/,
    );
    expect(await stage.ask(run).catch(reasonOf)).toBe("APPROVAL_NOT_FOUND");
  });

  test("is not handed out after a cancel request, even to a waiting call", async ({ stage }) => {
    const { run, approval } = await askedRun(stage);
    const heard = stage.ask(run, { waitSeconds: 20 }).catch(reasonOf);
    await stage.client.call(RunService.method.cancelRun, { runId: run.runId });
    await stage.decide(approval).catch(reasonOf);
    expect(await heard).toBe("GRANT_REFUSED");
    expect(await stage.get(approval)).not.toMatchObject({ state: USED });
    await stage.worker.report(run, { 2: stopped });
  });

  test("is requested with valid arguments only", async ({ stage }) => {
    const { run } = await askedRun(stage);
    for (const more of [
      { sequence: 0n },
      { sequence: -1n },
      { sequence: 2n ** 31n },
      { useId: "" },
      { useId: "x".repeat(129) },
      { useId: "\0" },
      { waitSeconds: -1 },
      { waitSeconds: 21 },
    ]) {
      expect(await stage.ask(run, more).catch(reasonOf)).toBe("INVALID_ARGUMENT");
    }
  });

  test("leaves an audit entry for each request", async ({ stage }) => {
    const { run } = await askedRun(stage);
    await stage.ask(run);
    await stage.client.call(RunService.method.cancelRun, { runId: run.runId });
    await until("the refusal", async () => (await stage.ask(run).catch(reasonOf)) === "GRANT_REFUSED");
    const { entries } = await stage.client.call(RunnerService.method.listAuditEntries, { runId: run.runId });
    expect(entries.at(-1)).toMatchObject({ action: "approval_get", resource: "1", result: "allow" });
    expect(entries[0]).toMatchObject({ action: "approval_get", result: "deny", reason: "run is being cancelled" });
    await stage.worker.report(run, { 2: stopped });
  });
});

test("approvals are listed and decided over REST in the contract's JSON", async ({ stage }) => {
  const { run, approval } = await askedRun(stage);
  const call = async (path: string, body?: object) => {
    const headers = { ...credentialsOf(), "content-type": "application/json" };
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${stage.url}/v1/approvals${path}`, { headers, ...init });
    return { status: response.status, answer: JSON.parse(await response.text()) };
  };
  const listed = await call(`?run_id=${run.runId}&state=pending`);
  const { approvalId: id, digest } = approval;
  expect(listed).toMatchObject({ status: 200, answer: { approvals: [{ approval_id: id, state: "pending", digest }] } });
  expect((await call("?state=used")).answer).toEqual({ approvals: [] });
  const request = { action: "ban", target: { user: "u-2" }, payload: { days: 3 } };
  expect(await call(`/${id}`)).toMatchObject({ status: 200, answer: { approval_id: id, request } });
  const decided = await call(`/${id}:decide`, { decision: "approve", digest, decided_by: "ada" });
  expect(decided).toMatchObject({ status: 200, answer: { state: "approved", decision: "approve", decided_by: "ada" } });
  const late = await call(`/${id}:decide`, { decision: "reject", digest });
  expect(late).toMatchObject({ status: 409, answer: { reason: "APPROVAL_DECIDED" } });
});

test("an approval is emptied and deleted with its run", async ({ stage }) => {
  const { run, approval } = await askedRun(stage);
  await stage.decide(approval, REJECT, { comment: "rude" });
  await stage.worker.report(run, { 2: done });
  const { db } = connect(stage.databaseUrl);
  await emptyApprovals(db, [run.runId]);
  const { digest } = approval;
  const emptied = { digest, state: REJECTED, action: "", request: "{}", comment: "" };
  expect(await stage.get(approval)).toMatchObject(emptied);
  const rows = await query<{ session: string }>(stage.databaseUrl, "select session from run");
  expect(await eraseContents(db, [rows[0]?.session ?? ""], retention)).toBe(1);
  expect(await query(stage.databaseUrl, "select id from approval")).toEqual([]);
});

describe("a watch", () => {
  async function openWatch(stage: Stage & { url: string }, clientId?: string) {
    const approvals = createClient(ApprovalService, connectHttp2Transport(stage.url));
    const headers = credentialsOf(clientId);
    return async (request: { runId?: string; after?: string } = {}) => {
      const seen: WatchApprovalsResponse[] = [];
      const leaving = new AbortController();
      const over = (async () => {
        for await (const response of approvals.watchApprovals(request, { headers, signal: leaving.signal })) {
          seen.push(response);
        }
      })().catch(() => undefined);
      await until("the stream to open", () => seen.length > 0);
      const told = () => seen.flatMap(({ change }) => (change.case === "approval" ? [change.value] : []));
      return {
        told,
        saw: (wanted: Approval, state: Approval_State) =>
          until("the approval", () =>
            told().some((each) => each.approvalId === wanted.approvalId && each.state === state),
          ),
        cursor: () => seen.findLast(({ cursor }) => cursor !== "")?.cursor ?? "",
        leave: async () => {
          leaving.abort();
          await over;
        },
      };
    };
  }

  test("shows an approval as it is asked for, decided, used and expired, and goes on after a cursor", async () => {
    const stage = await openService();
    const watch = await openWatch(stage);
    const first = await watch();
    const { run, approval } = await askedRun(stage);
    await first.saw(approval, PENDING);
    await stage.decide(approval);
    await first.saw(approval, APPROVED);
    const after = first.cursor();
    await first.leave();
    await stage.ask(run);
    const rejected = await askedRun(stage);
    await stage.decide(rejected.approval, REJECT);
    const second = await watch({ after });
    await second.saw(approval, USED);
    await second.saw(rejected.approval, REJECTED);
    const left = await askedRun(stage);
    await second.saw(left.approval, PENDING);
    await stage.worker.report(left.run, { 2: ["run.completed", {}] });
    await second.saw(left.approval, EXPIRED);
    expect(second.told().every(({ request }) => request === undefined)).toBe(true);
    await second.leave();
    const late = await watch();
    const open = await askedRun(stage);
    await late.saw(open.approval, PENDING);
    expect(new Set(late.told().map(({ approvalId }) => approvalId))).toEqual(new Set([open.approval.approvalId]));
    await late.leave();
  });

  test("is of one run where it names one, and shows another client nothing", async ({ stage }) => {
    const { approval, run } = await askedRun(stage);
    const stranger = await (await openWatch(stage, "stranger"))();
    const watch = await openWatch(stage);
    const ofOne = await watch({ runId: run.runId });
    const ofAll = await watch();
    const { approval: other } = await askedRun(stage);
    await ofAll.saw(other, PENDING);
    await ofOne.saw(approval, PENDING);
    await stage.decide(approval);
    await ofOne.saw(approval, APPROVED);
    expect(new Set(ofOne.told().map(({ runId }) => runId))).toEqual(new Set([run.runId]));
    expect(stranger.told()).toEqual([]);
    await Promise.all([stranger, ofOne, ofAll].map((each) => each.leave()));
  });
});
