// An exchange as the replica that works on it finds it: what is to be done next, and what was begun of it before.

import type { Db } from "../../platform/database/database.ts";
import type { CommandResult, Trace } from "./command.ts";
import { decodeResult, decodeResults } from "./results.ts";
import { type ExchangeRow, findExchangeOfRun, listCommands, readInbox } from "./storage/exchange.ts";

export interface ExchangeState {
  readonly id: string;
  readonly task: string;
  /** Number of the newest outbox. */
  readonly sequence: number;
  /** False while that one has still to be written. */
  readonly hasOutbox: boolean;
  readonly isComplete: boolean;
  /** The answer to the newest outbox, once it is there. */
  readonly inbox: string | undefined;
  /** What was begun of that answer, in the order of its commands. */
  readonly attempts: readonly Attempt[];
  /** What the first outbox that is written here tells of: nothing, but for an exchange that was imported. */
  readonly imported: readonly CommandResult[];
  /** Paths whose contents the newest outbox holds, or is to hold. */
  readonly readRequests: readonly string[];
}

/** A command that was begun, and what it did, if that is known. */
export interface Attempt {
  readonly trace: Trace;
  readonly result: CommandResult | undefined;
}

export type OpenExchange = (runId: string) => Promise<ExchangeState>;

export function createOpenExchange(db: Db): OpenExchange {
  return async (runId) => {
    const row = await findExchangeOfRun(db, runId);
    if (row === undefined) {
      throw new Error(`run ${runId} is no exchange`);
    }
    const { session, sequence } = row;
    const [inbox, commands] = await Promise.all([
      readInbox(db, { session, sequence }),
      listCommands(db, { session, sequence }),
    ]);
    return {
      id: row.id,
      task: row.task,
      sequence,
      hasOutbox: row.has_outbox,
      isComplete: row.is_complete,
      inbox: inbox && Buffer.from(inbox).toString(),
      attempts: commands.map(({ trace, result }) => ({
        trace: JSON.parse(trace),
        result: result === null ? undefined : decodeResult(result),
      })),
      imported: readImported(row),
      readRequests: row.read_requests,
    };
  };
}

/** The results of an inbox; none while it is not answered. */
async function readResults(
  db: Db,
  { session, sequence }: { session: string; sequence: number },
): Promise<CommandResult[]> {
  const commands = await listCommands(db, { session, sequence });
  return commands.flatMap(({ result }) => (result === null ? [] : [decodeResult(result)]));
}

/** What the newest outbox tells of: what the inbox before it did, or one that was executed elsewhere. */
export async function readLastResults(db: Db, row: ExchangeRow): Promise<readonly CommandResult[]> {
  const { session, sequence, is_complete: isComplete } = row;
  const results = await readResults(db, { session, sequence: isComplete ? sequence : sequence - 1 });
  return results.length > 0 ? results : readImported(row);
}

function readImported({ imported }: ExchangeRow): readonly CommandResult[] {
  return imported === null ? [] : decodeResults(imported);
}
