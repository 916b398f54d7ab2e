// The tool calls: the intent before a call runs, its outcome when it is known, and whether the outcome is in the log. Both are
// stored as bytes of contract messages (ToolCall, ToolCallCompleted), which hold any text; a text column refuses NUL.

import { type Selectable, sql } from "kysely";
import { uuidArray } from "../../platform/database/binary-array.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { type ApprovalState, approvalState } from "./approval.ts";
import type { ToolCallTable } from "./schema.ts";

/** A tool call of a run, with its approval. The fields of the approval are null for a call without one. */
export interface ToolCallRow
  extends Pick<
    Selectable<ToolCallTable>,
    "turn" | "position" | "call" | "outcome" | "approval_id" | "child_run_id" | "task"
  > {
  readonly state: ApprovalState | null;
  readonly expire_time: Date | null;
  readonly decided_by: string | null;
  readonly comment: string | null;
}

/** Writes the calls of a turn before they run. */
export async function insertToolCalls(
  trx: Transaction,
  args: {
    runId: string;
    turn: number;
    calls: readonly { readonly call: Uint8Array; readonly approvalId: string | undefined }[];
  },
): Promise<void> {
  if (args.calls.length === 0) {
    return;
  }
  await trx
    .insertInto("tool_call")
    .values(
      args.calls.map(({ call, approvalId = null }, position) => ({
        run_id: args.runId,
        turn: args.turn,
        position,
        call: Buffer.from(call),
        approval_id: approvalId,
      })),
    )
    .execute();
}

/** Records the outcome of a call. The first outcome counts; a later one changes nothing. */
export async function recordToolOutcome(
  trx: Transaction,
  args: { runId: string; turn: number; position: number; outcome: Uint8Array },
): Promise<void> {
  await trx
    .updateTable("tool_call")
    .set({ outcome: Buffer.from(args.outcome), end_time: sql<Date>`now()` })
    .where("run_id", "=", args.runId)
    .where("turn", "=", args.turn)
    .where("position", "=", args.position)
    .where("end_time", "is", null)
    .execute();
}

/** Returns whether a call has an outcome. */
export async function hasToolOutcome(
  trx: Transaction,
  { runId, turn, position }: { runId: string; turn: number; position: number },
): Promise<boolean> {
  const row = await trx
    .selectFrom("tool_call")
    .select("end_time")
    .where("run_id", "=", runId)
    .where("turn", "=", turn)
    .where("position", "=", position)
    .executeTakeFirst();
  return row !== undefined && row.end_time !== null;
}

/** Records the task of a server that works on a call. */
export async function recordToolTask(
  trx: Transaction,
  args: { runId: string; turn: number; position: number; task: string },
): Promise<void> {
  await trx
    .updateTable("tool_call")
    .set({ task: args.task })
    .where("run_id", "=", args.runId)
    .where("turn", "=", args.turn)
    .where("position", "=", args.position)
    .execute();
}

/** Returns the calls whose outcome is not in the log yet, in the order of the model's calls. */
export async function readOpenToolCalls(db: Db | Transaction, runId: string): Promise<ToolCallRow[]> {
  const { rows } = await sql<ToolCallRow>`
    select tool_call.turn, position, call, outcome, approval_id, child_run_id, task, case when approval_id is not null then ${approvalState} end as state,
      expire_time, decided_by, comment
    from tool_call join run on run.id = tool_call.run_id left join approval on approval.id = approval_id
    where tool_call.run_id = ${runId} and log_sequence is null
    order by tool_call.turn, position`.execute(db);
  return rows;
}

/** Records the sequences of the outcomes of a turn in the log. */
export async function markToolCallsLogged(
  trx: Transaction,
  args: { runId: string; turn: number; sequences: readonly number[] },
): Promise<void> {
  for (const [position, sequence] of args.sequences.entries()) {
    await trx
      .updateTable("tool_call")
      .set({ log_sequence: sequence })
      .where("run_id", "=", args.runId)
      .where("turn", "=", args.turn)
      .where("position", "=", position)
      .execute();
  }
}

/** Deletes all tool calls of the runs, at most `rowsMax` in a statement. */
export async function deleteToolCalls(db: Db, args: { runs: readonly string[]; rowsMax: number }): Promise<void> {
  const runs = uuidArray(args.runs);
  let rows: number;
  do {
    const { numAffectedRows = 0n } = await sql`
      delete from tool_call where (run_id, turn, position) in (
        select run_id, turn, position from tool_call where run_id = any(${runs}::uuid[]) limit ${sql.lit(args.rowsMax)})`.execute(
      db,
    );
    rows = Number(numAffectedRows);
  } while (rows === args.rowsMax);
}

/** Deletes tool calls of runs that ended longer than `endedMs` ago, oldest runs first. Returns how many. */
export async function deleteIdleToolCalls(
  db: Db,
  args: { endedMs: number; createdBefore: string; limit: number },
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from tool_call where (run_id, turn, position) in (
      select tool_call.run_id, tool_call.turn, tool_call.position from tool_call join run on run.id = tool_call.run_id
      where tool_call.run_id < ${args.createdBefore}
        and run.end_time < now() - ${args.endedMs} * interval '1 millisecond'
      order by tool_call.run_id limit ${sql.lit(args.limit)})`.execute(db);
  return Number(numAffectedRows);
}
