// Submits the answer to an outbox: stored once, executed by the replica that works on the run, and answered with the results of
// its commands.
//
// X1  An inbox is durable before any of its commands begins, and each sequence has one inbox.
// X2  The same text again gets the same answer; another text is refused and changes nothing.

import { createHash } from "node:crypto";
import type { Wakeup } from "../../engine/log/wakeup.ts";
import { isActive, wakeRun } from "../../engine/storage/run.ts";
import { lastSequence } from "../../engine/storage/run-result.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import type { Transaction } from "../../platform/database/database.ts";
import { type Answer, readAnswer } from "./answer.ts";
import { type TurnWait, untilTurnEnds } from "./await-turn.ts";
import { readHeader } from "./inbox/header.ts";
import { reasons } from "./reasons.ts";
import {
  type ExchangeName,
  type ExchangeRow,
  findExchange,
  findInbox,
  insertInbox,
  lockExchange,
} from "./storage/exchange.ts";

/** Dependencies of `submitInbox`. */
export interface SubmitDeps extends TurnWait {
  readonly wakeup: Wakeup;
}

/** An inbox to submit. */
export interface Inbox extends ExchangeName {
  readonly text: string;
  /** The number of the answered outbox; 0 means the newest. */
  readonly sequence: number;
}

/**
 * Submits an inbox and waits for the results of its commands.
 * @throws Fault INBOX_STALE for another outbox or another text, EXCHANGE_ENDED or EXCHANGE_NOT_FOUND.
 */
export async function submitInbox(deps: SubmitDeps, inbox: Inbox, caller: AbortSignal): Promise<Answer> {
  const text = Buffer.from(inbox.text);
  const sha256 = createHash("sha256").update(text).digest();
  for (;;) {
    const taken = await deps.db.transaction().execute((trx) => take(trx, inbox, { text, sha256 }));
    failpoint("inbox.committed");
    if (taken.isNew) {
      deps.wakeup.publish({ topic: "queue", key: "", value: 0 });
    }
    if (taken.waitsAfter !== undefined) {
      await untilTurnEnds(deps, { runId: taken.row.run_id, after: taken.waitsAfter, caller, words: stillRunning });
    }
    if (taken.sequence !== undefined) {
      const row = requireExchange(await findExchange(deps.db, inbox));
      return await readAnswer(deps.db, row, taken.sequence);
    }
  }
}

const stillRunning = "the exchange is still executing commands: call again with the same text for the results";

interface Taken {
  readonly row: ExchangeRow;
  /** The outbox that it answers; undefined when that outbox is not written yet. */
  readonly sequence: number | undefined;
  readonly isNew: boolean;
  /** The position in the log after which its turn ends; undefined when it has ended. */
  readonly waitsAfter: number | undefined;
}

async function take(
  trx: Transaction,
  inbox: Inbox,
  { text, sha256 }: { text: Uint8Array; sha256: Uint8Array },
): Promise<Taken> {
  const row = requireExchange(await lockExchange(trx, inbox));
  const { session } = row;
  const sequence = await meant(trx, row, inbox, sha256);
  const earlier = await findInbox(trx, { session, sequence });
  const isAtWork = row.status === "queued" || row.status === "running";
  const waitsAfter = isAtWork ? await lastSequence(trx, row.run_id) : undefined;
  if (earlier !== undefined) {
    if (Buffer.compare(earlier.sha256, sha256) !== 0) {
      assertActive(row);
      throw stale(`outbox ${sequence} was already answered with another text`, row);
    }
    return { row, sequence, isNew: false, waitsAfter: sequence === row.sequence ? waitsAfter : undefined };
  }
  assertOpen(row, sequence);
  if (isAtWork) {
    return { row, sequence: undefined, isNew: false, waitsAfter };
  }
  await insertInbox(trx, { session, sequence, sha256, text });
  await wakeRun(trx, row.run_id);
  failpoint("inbox.written");
  return { row, sequence, isNew: true, waitsAfter: await lastSequence(trx, row.run_id) };
}

/** Returns the outbox that a text answers: by the request, else by the text's own header, else the newest. */
async function meant(trx: Transaction, row: ExchangeRow, inbox: Inbox, sha256: Uint8Array): Promise<number> {
  const header = readHeader(inbox.text);
  if (header.session !== undefined && header.session !== row.id) {
    throw stale(`the text belongs to exchange ${header.session}`, row);
  }
  if (inbox.sequence !== 0) {
    if (header.sequence !== undefined && header.sequence !== inbox.sequence) {
      throw stale(`the text belongs to sequence ${header.sequence}, but was sent for ${inbox.sequence}`, row);
    }
    return inbox.sequence;
  }
  if (header.sequence !== undefined) {
    if (header.sequence < 1 || header.sequence > row.sequence) {
      assertActive(row);
      throw stale(`the text belongs to sequence ${header.sequence}`, row);
    }
    return header.sequence;
  }
  const newest = await findInbox(trx, { session: row.session, sequence: undefined });
  const isAgain = newest !== undefined && Buffer.compare(newest.sha256, sha256) === 0;
  return isAgain ? newest.sequence : row.sequence;
}

function assertOpen(row: ExchangeRow, sequence: number): void {
  if (sequence < row.sequence) {
    throw stale(`outbox ${sequence} was answered elsewhere`, row);
  }
  assertActive(row);
  if (sequence > row.sequence) {
    throw invalidField("sequence", `outbox ${sequence} does not exist yet: the newest is ${row.sequence}`);
  }
}

function assertActive(row: ExchangeRow): void {
  if (!isActive(row.status)) {
    throw ended(row);
  }
}

/**
 * Returns the exchange.
 * @throws Fault EXCHANGE_NOT_FOUND when it is undefined.
 */
export function requireExchange(row: ExchangeRow | undefined): ExchangeRow {
  if (row === undefined) {
    throw new Fault(reasons.EXCHANGE_NOT_FOUND, "exchange not found");
  }
  return row;
}

/** Makes the fault of an exchange that has ended. */
export function ended({ id, status }: ExchangeRow): Fault {
  return new Fault(reasons.EXCHANGE_ENDED, `exchange ${id} has ended (${status}): start another one`);
}

function stale(why: string, { id, sequence }: ExchangeRow): Fault {
  return new Fault(reasons.INBOX_STALE, `${why}; exchange ${id} is at sequence ${sequence}`, {
    metadata: { sequence: String(sequence) },
  });
}
