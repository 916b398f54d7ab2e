// kill -9 at each step of a call that waits for a person, and of its decision. The next process continues: one approval, one
// result of the call, one end, and the tool is not run twice.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { type Approval, Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Failpoint } from "../../src/platform/base/failpoint.ts";
import { expectFolds } from "../ag-ui/verify-folds.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { Area } from "../tools/area.ts";
import { getRun, type Neighbour, openCluster, openProvider } from "./cluster.ts";
import { isAlive } from "./crash-matrix/crew.ts";
import { expectInvariants } from "./invariants.ts";
import { LogReader } from "./log-reader.ts";

const { listApprovals, getApproval, decideApproval } = ApprovalService.method;
const args = { file_path: "a.txt", content: "new" };
const interrupted = "interrupted: the process that ran this call was lost, and the call was not repeated";

/** The fate of the call: it ran, it may have run and is not repeated, or it was never begun. */
type Fate = "ran" | "ran unseen" | "not begun";

const cases: readonly (readonly [failpoint: Failpoint, passes: number, fate: Fate])[] = [
  ["calls.written", 1, "ran"],
  ["calls.committed", 1, "ran"],
  ["park.written", 1, "ran"],
  ["park.committed", 1, "ran"],
  ["approval.decided", 1, "ran"],
  ["approval.committed", 1, "ran"],
  ["claim.committed", 1, "ran"],
  ["run.loaded", 2, "ran"],
  ["approval.used", 1, "not begun"],
  ["tool.starting", 1, "not begun"],
  ["tool.ended", 1, "ran unseen"],
  ["outcome.written", 1, "ran unseen"],
  ["outcome.committed", 1, "ran"],
  ["answers.written", 1, "ran"],
  ["answers.committed", 1, "ran"],
];

test.each(cases)("a call that waits for a person survives a kill at %s:%i", async (failpoint, passes, fate) => {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.giveToSession();
  const { provider, environment } = await openProvider();
  // A turn that was lost before its commit asks the model again.
  const call = callTools({ id: "c1", name: "write_file", arguments: JSON.stringify(args) });
  provider.respond(call, ...(failpoint === "calls.written" ? [call] : []), answer("done"), answer("done"));
  const cluster = await openCluster(environment);
  const first = await cluster.start({ RUNNEL_FAILPOINT: `${failpoint}:${passes}` });
  const agent = { name: "fault", tools: { builtin: ["write_file"], approve: ["write_file"] } };
  const { sessionId } = await first.client.call(SessionService.method.createSession, { agent, workDir: area.root });
  const request = { sessionId, message: "write", requestId: "once" };
  const sent = await first.client.call(SessionService.method.sendMessage, request).catch(() => undefined);
  let second: Neighbour | undefined;
  const someone = async (): Promise<Neighbour> => {
    if (isAlive(first)) {
      return first;
    }
    second ??= await cluster.startHere();
    return second;
  };
  const runId = sent?.runId ?? (await (await someone()).client.call(SessionService.method.sendMessage, request)).runId;
  const approval = await askUntil(someone, async ({ client }) => {
    const { approvals } = await client.call(listApprovals, { runId, state: Approval_State.PENDING });
    const [{ approvalId } = { approvalId: "" }] = approvals;
    const isWaiting = (await getRun(client, runId)).state === Run_State.WAITING;
    return isWaiting && approvalId !== "" && (await client.call(getApproval, { approvalId })).approval;
  });
  const { approvalId, digest } = approval as Approval;
  const decision = { approvalId, digest, decision: Approval_Decision.APPROVE };
  await askUntil(someone, async ({ client }) => (await client.call(decideApproval, decision)).approval);
  await askUntil(someone, async ({ client }) => (await getRun(client, runId)).state === Run_State.COMPLETED);
  expect(second, "the first process has died").toBeDefined();

  const reader = new LogReader(runId);
  expect(await reader.follow((second as Neighbour).client)).toBe(status.OK);
  await expectFolds(reader.results);
  await expectInvariants(cluster.databaseUrl);
  const completed = reader.results.flatMap(({ payload }) =>
    payload.case === "toolCallCompleted" ? [payload.value] : [],
  );
  const error = fate === "ran" ? undefined : interrupted;
  expect(completed.map((outcome) => [outcome.toolCallId, outcome.error])).toEqual([["c1", error]]);
  const written = await readFile(join(area.root, "a.txt"), "utf8").catch(() => undefined);
  expect(written).toBe(fate === "not begun" ? undefined : "new");
  expect(await query(cluster.databaseUrl, "select id, use_time is not null as used from approval")).toEqual([
    { id: approvalId, used: true },
  ]);
});

test("of two decisions at two living replicas one counts, and the run that waits at one of them goes on", async () => {
  const area = new Area();
  onTestFinished(() => area[Symbol.dispose]());
  area.giveToSession();
  const { provider, environment } = await openProvider();
  provider.respond(callTools({ id: "c1", name: "write_file", arguments: JSON.stringify(args) }), answer("done"));
  const cluster = await openCluster(environment);
  const [first, second] = [await cluster.start(), await cluster.startHere()];
  const agent = { name: "fault", tools: { builtin: ["write_file"], approve: ["write_file"] } };
  const { sessionId } = await first.client.call(SessionService.method.createSession, { agent, workDir: area.root });
  const { runId } = await first.client.call(SessionService.method.sendMessage, { sessionId, message: "write" });
  const pending = (await until("the approval at the other replica", async () => {
    const { approvals } = await second.client.call(listApprovals, { runId, state: Approval_State.PENDING });
    return approvals[0] ?? false;
  })) as Approval;
  const { approval } = await second.client.call(getApproval, { approvalId: pending.approvalId });
  const reader = new LogReader(runId);
  const reading = reader.follow(first.client);
  const decide = ({ client }: Neighbour, decision: Approval_Decision) =>
    client.call(decideApproval, { approvalId: pending.approvalId, digest: approval?.digest ?? "", decision });
  const decisions = await Promise.allSettled([
    decide(second, Approval_Decision.APPROVE),
    decide(first, Approval_Decision.REJECT),
  ]);
  expect(decisions.map((each) => each.status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await reading).toBe(status.OK);
  expect(reader.count("toolCallCompleted")).toBe(1);
  const isApproved = decisions[0]?.status === "fulfilled";
  expect(await readFile(join(area.root, "a.txt"), "utf8").catch(() => undefined)).toBe(isApproved ? "new" : undefined);
  await expectInvariants(cluster.databaseUrl);
});

/** Asks a living service until it has an answer. */
async function askUntil<T>(
  someone: () => Promise<Neighbour>,
  ask: (neighbour: Neighbour) => Promise<T | false>,
): Promise<T> {
  return (await until("an answer", async () => await ask(await someone()).catch(() => false as const), 60_000)) as T;
}
