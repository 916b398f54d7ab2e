// The answer to an inbox: what each of its commands did, in order. When the exchange ended before all of them were executed,
// the answer says so for each of the rest.

import { isActive } from "../../engine/storage/run.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Command, CommandResult } from "./command.ts";
import { parseInbox } from "./inbox/parse.ts";
import { decodeResult } from "./results.ts";
import { type ExchangeRow, listCommands, readInbox } from "./storage/exchange.ts";

/** The answer to an inbox. */
export interface Answer {
  readonly results: readonly CommandResult[];
  /** The number of the next outbox. When no next one exists, the number of the answered outbox. */
  readonly sequence: number;
  readonly isComplete: boolean;
}

/** Reads the answer to an inbox whose turn has ended. */
export async function readAnswer(db: Db, row: ExchangeRow, sequence: number): Promise<Answer> {
  const { session } = row;
  const begun = await listCommands(db, { session, sequence });
  const results = begun.flatMap(({ result }) => (result === null ? [] : [decodeResult(result)]));
  const left = isCutShort(row, sequence) ? await readLeft(db, { session, sequence, done: results.length }) : [];
  return {
    results: [
      ...results,
      ...left.map((command, index) => notDone(command, results.length + index < begun.length, row)),
    ],
    sequence: Math.min(row.sequence, sequence + 1),
    isComplete: results.some(({ type }) => type === "DONE"),
  };
}

function isCutShort(row: ExchangeRow, sequence: number): boolean {
  return !isActive(row.status) && row.sequence === sequence && !row.is_complete;
}

async function readLeft(
  db: Db,
  { done, ...inbox }: { session: string; sequence: number; done: number },
): Promise<Command[]> {
  const text = await readInbox(db, inbox);
  return text === undefined ? [] : parseInbox(Buffer.from(text).toString()).slice(done);
}

function notDone({ type }: Command, isBegun: boolean, { status }: ExchangeRow): CommandResult {
  const summary = isBegun
    ? `interrupted, possibly executed in part: the exchange has ended (${status})`
    : `not executed: the exchange has ended (${status})`;
  return { type, success: false, summary, output: "" };
}
