// Reads the state of an exchange for the replica that works on it: its next step, and the commands that were already begun.

import type { Db } from "../../platform/database/database.ts";
import type { CommandResult, Trace } from "./command.ts";
import { decodeResult, decodeResults } from "./results.ts";
import { type ExchangeRow, findExchangeOfRun, listCommands, readInbox } from "./storage/exchange.ts";

/** The state of an exchange. */
export interface ExchangeState {
  readonly id: string;
  readonly task: string;
  /** The number of the newest outbox. */
  readonly sequence: number;
  /** False while the newest outbox is not written yet. */
  readonly hasOutbox: boolean;
  readonly isComplete: boolean;
  /** The answer to the newest outbox; undefined until it arrives. */
  readonly inbox: string | undefined;
  /** The begun commands of that answer, in their order. */
  readonly attempts: readonly Attempt[];
  /** Results for the first outbox that is written here; empty unless the exchange was imported. */
  readonly imported: readonly CommandResult[];
  /** Paths whose contents the newest outbox shows or will show. */
  readonly readRequests: readonly string[];
}

/** A command that was begun, with its result if that is known. */
export interface Attempt {
  readonly trace: Trace;
  readonly result: CommandResult | undefined;
}

/** Reads the state of the exchange of a run. */
export type OpenExchange = (runId: string) => Promise<ExchangeState>;

/** Creates the function that reads the state of an exchange. */
export function createOpenExchange(db: Db): OpenExchange {
  return async (runId) => {
    const row = await findExchangeOfRun(db, runId);
    if (row === undefined) {
      throw new Error(`run ${runId} is not an exchange`);
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

/** Returns the results of an inbox; empty while the outbox has no answer. */
async function readResults(
  db: Db,
  { session, sequence }: { session: string; sequence: number },
): Promise<CommandResult[]> {
  const commands = await listCommands(db, { session, sequence });
  return commands.flatMap(({ result }) => (result === null ? [] : [decodeResult(result)]));
}

/** Returns the results that the newest outbox shows: those of the inbox before it, or imported ones. */
export async function readLastResults(db: Db, row: ExchangeRow): Promise<readonly CommandResult[]> {
  const { session, sequence, is_complete: isComplete } = row;
  const results = await readResults(db, { session, sequence: isComplete ? sequence : sequence - 1 });
  return results.length > 0 ? results : readImported(row);
}

function readImported({ imported }: ExchangeRow): readonly CommandResult[] {
  return imported === null ? [] : decodeResults(imported);
}
