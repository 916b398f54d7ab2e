// The state of an approval that a runner has requested. `approved` is given to one use, which the runner names. A runner that
// lost the answer asks again with the same name; any other name gets `used`.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { GetApprovalRequest, GetApprovalResponseSchema } from "#gen/runnel/host/v1/host_run_service_pb.js";
import { approvalNotFound, approvalStates } from "../../../engine/approvals/decide.ts";
import type { Wakeup } from "../../../engine/log/wakeup.ts";
import { findApproval, markApprovalUsed } from "../../../engine/storage/approval.ts";
import { over } from "../../../platform/base/clock.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { parseExact, printJson } from "../../../platform/base/json/exact.ts";
import { isObject } from "../../../platform/base/json/parse-object.ts";
import { onAbort } from "../../../platform/base/on-abort.ts";
import { isStorableText } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import { type AwaitedApproval, findApprovalOfResult } from "../storage/approval.ts";
import { beingCancelled, type HostContext, type HostDeps, type HostRun, holdHostRun, withHostRun } from "./access.ts";

/** Dependencies of the approval action. */
export interface ApprovalDeps extends Pick<HostDeps, "db" | "clock"> {
  readonly wakeup: Wakeup;
  /** Aborts when this replica stops serving. A waiting runner then asks another one. */
  readonly drain: AbortSignal;
}

/** The maximum wait: shorter than the timeout of the action. */
const waitSecondsMax = 20;
const useIdCharsMax = 128;
/** The maximum number of a result. */
const sequenceMax = 2n ** 31n - 1n;
/** The polling interval. It covers lost wake-ups, and results that are not written yet. */
const pollMs = 1_000;

/** Returns the state of an approval, once it is decided or the wait is over. An approved one is marked as used. */
export async function getApproval(
  deps: ApprovalDeps & HostDeps,
  context: HostContext,
  request: GetApprovalRequest,
): Promise<MessageInitShape<typeof GetApprovalResponseSchema>> {
  const { runId, sequence, useId } = request;
  const call = { runId, action: "approval_get", needs: { approval: true }, resource: String(sequence) } as const;
  return await withHostRun(deps, context, call, async (run) => {
    assertArguments(request);
    const awaited = await waitForDecision(deps, run, request);
    const approval = awaited.state === "approved" ? await use(deps, run, awaited, request) : awaited;
    const isOurs = approval.state === "used" && approval.use_id === useId;
    return {
      approvalId: approval.id,
      state: approvalStates[isOurs ? "approved" : approval.state],
      digest: approval.digest,
      comment: approval.comment ?? "",
      expireTime: timestampFromDate(approval.expire_time),
    };
  });
}

/** A call of a tool that waits for a person. */
export interface CallToAllow {
  readonly toolName: string;
  /** A JSON object. */
  readonly parameters: string;
  /** The number of the action that asks for it. */
  readonly sequence: bigint;
  /** Identifies the call. */
  readonly useId: string;
}

/**
 * Uses the approval of a call, which allows it once. Waits for the decision for a while.
 * @throws Fault APPROVAL_REQUIRED unless a person has approved exactly this call, and HOST_CALL_UNAVAILABLE while it is not decided.
 */
export async function useApprovalOfCall(
  deps: ApprovalDeps,
  run: Pick<HostRun, "runId" | "attempt" | "scope" | "signal">,
  call: CallToAllow,
): Promise<void> {
  const { toolName, sequence, useId } = call;
  if (sequence < 1n || sequence > sequenceMax) {
    throw notAllowed(call, "it has no approval_sequence");
  }
  const awaited = await waitForDecision(deps, run, { sequence, waitSeconds: waitSecondsMax });
  if (awaited.state === "pending") {
    const message = `tool ${toolName}: its approval ${awaited.id} is not decided yet: make the call again`;
    throw new Fault(reasons.HOST_CALL_UNAVAILABLE, message);
  }
  await deps.db.transaction().execute(async (trx) => {
    const { isCancelling } = await holdHostRun(trx, run);
    if (isCancelling) {
      throw beingCancelled();
    }
    const approval = await findApproval(trx, { client: run.scope.client, id: awaited.id });
    if (!isRequestOf(call, approval?.request)) {
      throw notAllowed(call, `result ${sequence} asks for something else`);
    }
    if (!(await markApprovalUsed(trx, { id: awaited.id, useId }))) {
      throw notAllowed(call, `its approval is ${approval?.state ?? "gone"}`);
    }
  });
}

function notAllowed({ toolName }: CallToAllow, why: string): Fault {
  const fix = `report action.requested with the action call_tool, the target {"tool_name": …} and the arguments as its payload`;
  return new Fault(reasons.APPROVAL_REQUIRED, `tool ${toolName} waits for a person, and ${why}: ${fix}`);
}

/** Whether a person was asked for this call: the same tool, with the same arguments as they were written. */
function isRequestOf({ toolName, parameters }: CallToAllow, request = "{}"): boolean {
  const { action, target, payload } = parseExact(request) as Readonly<Record<string, unknown>>;
  const isSame = printJson(payload ?? {}) === printJson(parseExact(parameters));
  return action === "call_tool" && isObject(target) && target.tool_name === toolName && isSame;
}

function assertArguments({ sequence, useId, waitSeconds }: GetApprovalRequest): void {
  if (sequence < 1n || sequence > sequenceMax) {
    throw invalidField("sequence", "give the sequence of the action.requested");
  }
  if (useId === "" || useId.length > useIdCharsMax || !isStorableText(useId)) {
    throw invalidField("use_id", `give 1 to ${useIdCharsMax} characters that identify one execution of the action`);
  }
  if (waitSeconds < 0 || waitSeconds > waitSecondsMax) {
    throw invalidField("wait_seconds", `give 0 to ${waitSecondsMax}`);
  }
}

/**
 * Returns the approval when it is decided or the wait is over. Throws Fault APPROVAL_NOT_FOUND when it still does not exist.
 */
async function waitForDecision(
  { db, clock, wakeup, drain }: ApprovalDeps,
  { runId, signal }: Pick<HostRun, "runId" | "signal">,
  { sequence, waitSeconds }: Pick<GetApprovalRequest, "sequence" | "waitSeconds">,
): Promise<AwaitedApproval> {
  const endMs = clock.monotonicMs() + waitSeconds * 1_000;
  let wake = new AbortController();
  const unsubscribe = [
    wakeup.subscribe("approval", ({ key }) => key === runId && wake.abort(over)),
    wakeup.subscribe("cancel", () => wake.abort(over)),
    wakeup.onGap(() => wake.abort(over)),
  ];
  const stop = AbortSignal.any([signal, drain]);
  using _leaving = onAbort(stop, () => wake.abort(over));
  try {
    for (;;) {
      wake = new AbortController();
      const found = await findApprovalOfResult(db, { runId, sequence });
      if (found?.is_cancelling === true) {
        throw beingCancelled();
      }
      const leftMs = endMs - clock.monotonicMs();
      if (leftMs <= 0 || stop.aborted || (found !== undefined && found.state !== "pending")) {
        return found ?? notFound();
      }
      await clock.sleep(Math.min(leftMs, pollMs), wake.signal);
    }
  } finally {
    for (const leave of unsubscribe) {
      leave();
    }
  }
}

function notFound(): never {
  throw approvalNotFound();
}

/** Marks the approval as used and returns its current state: another use may have been quicker. */
async function use(
  { db }: ApprovalDeps,
  run: HostRun,
  { id }: AwaitedApproval,
  { sequence, useId }: Pick<GetApprovalRequest, "sequence" | "useId">,
): Promise<AwaitedApproval> {
  return await db.transaction().execute(async (trx) => {
    const { isCancelling } = await holdHostRun(trx, run);
    if (isCancelling) {
      throw beingCancelled();
    }
    await markApprovalUsed(trx, { id, useId });
    return (await findApprovalOfResult(trx, { runId: run.runId, sequence })) ?? notFound();
  });
}
