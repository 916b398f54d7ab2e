// The progress of an exchange: data that the transaction of the results writes.

import { failpoint } from "../../../platform/base/failpoint.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { beginCommand, completeExchange, endCommand, type Outbox, saveOutbox } from "../storage/exchange.ts";

/** The effects of one step of an exchange. */
export interface ExchangedEffects {
  /** The number of the outbox whose inbox is executed. */
  readonly sequence: number;
  /** A command that is about to start, with its trace. */
  readonly begun?: { readonly position: number; readonly trace: string };
  /** A command that has ended: a CommandResult as bytes. */
  readonly ended?: { readonly position: number; readonly result: Uint8Array };
  /** The next outbox, with its own number. */
  readonly outbox?: Outbox;
  /** The inbox declared the task done. */
  readonly isComplete?: boolean;
}

/** Writes the effects of a step. Must run in the transaction of its results. */
export async function applyExchanged(trx: Transaction, session: string, effects: ExchangedEffects): Promise<void> {
  const { sequence, begun, ended, outbox, isComplete } = effects;
  if (ended !== undefined) {
    await endCommand(trx, { session, sequence, ...ended });
  }
  if (begun !== undefined) {
    await beginCommand(trx, { session, sequence, ...begun });
  }
  if (outbox !== undefined) {
    await saveOutbox(trx, { session, ...outbox });
  }
  if (isComplete === true) {
    await completeExchange(trx, session);
  }
  failpoint("exchanged.written");
}
