// The child runs of a run. They are started in the transaction of the calls that start them, so a call has its run, and a run its
// call, after any crash. `check-trees.ts` looks at a tree after each change in it.

import { toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import type { Wakeup } from "../log/wakeup.ts";
import type { RunRow } from "../storage/run.ts";
import { queueChildRun } from "../storage/run-start.ts";
import { findChildOfSession, readParentRun, readTreePlace, setChildOfCall } from "../storage/run-tree.ts";
import { recordToolOutcome } from "../storage/tool-call.ts";
import type { NewChildren, RunTree } from "./driver.ts";

/** The maximum number of runs above a run. Agents that call each other end here. */
export const treeDepthMax = 5;
/** The maximum number of child runs in a tree. Runs that start child runs at the same moment may exceed it by a few. */
export const treeRunsMax = 2_000;
/** The share of its parent's time that a child run gets: the rest is for the parent to use the result. */
const timeShare = 0.95;

/** Starts the child runs of calls, in the transaction that writes the calls or the use of their approvals. */
export async function startChildren(
  trx: Transaction,
  { runId, turn, runs, refused }: NewChildren & { readonly runId: string },
): Promise<void> {
  for (const { position, outcome } of refused) {
    await recordToolOutcome(trx, { runId, turn, position, outcome: toBinary(ToolCallCompletedSchema, outcome) });
  }
  if (runs.length === 0) {
    return;
  }
  const { depth, timeLeftMs, traceParent, workDir, callback, ...parent } = await readParentRun(trx, runId);
  for (const run of runs) {
    const agent = toBinary(AgentSchema, run.agent);
    await queueChildRun(trx, {
      id: run.runId,
      client: parent.client,
      session: run.session,
      driver: run.driver,
      input: toBinary(MessageSchema, run.message),
      agent,
      model: run.model,
      agentName: run.agent.name,
      priority: parent.priority,
      timeoutMs: Math.max(1, Math.floor(timeLeftMs * timeShare)),
      traceParent: traceParent ?? undefined,
      parentRunId: runId,
      rootRunId: parent.rootRunId,
      depth: depth + 1,
      opens: run.opensSession
        ? {
            agent,
            parentSession: parent.parentSession,
            workDir: workDir ?? undefined,
            callback: callback ?? undefined,
          }
        : undefined,
    });
    await setChildOfCall(trx, { runId, turn, position: run.position, childRunId: run.runId });
  }
  failpoint("children.written");
}

/** Returns the place of a run in its tree, and which child runs of its session a new one may continue. */
export async function readTree(
  db: Db,
  run: Pick<RunRow, "id" | "session">,
  continued: readonly string[],
): Promise<RunTree> {
  const place = await readTreePlace(db, { runId: run.id, runsMax: treeRunsMax });
  const found = await Promise.all(
    continued.map(async (id) => [id, await findChildOfSession(db, { runId: id, parentSession: run.session })] as const),
  );
  return { ...place, continued: new Map(found.flatMap(([id, child]) => (child === undefined ? [] : [[id, child]]))) };
}

/** Announces changes of a tree after their commit. Without a parent it does nothing. */
export function announceTree(wakeup: Wakeup, parentRunId: string | null): void {
  if (parentRunId !== null) {
    wakeup.publish({ topic: "tree", key: "", value: 0 });
  }
}
