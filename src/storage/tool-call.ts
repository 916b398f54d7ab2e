// Tool calls: the intent before a call runs, its outcome as it arrives, and whether the outcome is in the log. Both are
// messages of the contract (ToolCall, ToolCallCompleted) as bytes, which hold any text; a text column refuses NUL.

import { type Selectable, sql } from "kysely";
import type { Db, Transaction } from "./database.ts";
import type { ToolCallTable } from "./schema.ts";

export type ToolCallRow = Pick<Selectable<ToolCallTable>, "turn" | "position" | "call" | "outcome">;

export async function insertToolCalls(
  trx: Transaction,
  args: {
    runId: string;
    turn: number;
    calls: readonly Uint8Array[];
  },
): Promise<void> {
  if (args.calls.length === 0) {
    return;
  }
  await trx
    .insertInto("tool_call")
    .values(
      args.calls.map((call, position) => ({
        run_id: args.runId,
        turn: args.turn,
        position,
        call: Buffer.from(call),
      })),
    )
    .execute();
}

/** The first outcome counts; a later one changes nothing. */
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

/** The calls whose outcome has not reached the log, in the order of the model's calls. */
export async function readOpenToolCalls(db: Db | Transaction, runId: string): Promise<ToolCallRow[]> {
  return await db
    .selectFrom("tool_call")
    .select(["turn", "position", "call", "outcome"])
    .where("run_id", "=", runId)
    .where("log_sequence", "is", null)
    .orderBy("turn")
    .orderBy("position")
    .execute();
}

/** Notes where the outcomes of a turn stand in the log. */
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
