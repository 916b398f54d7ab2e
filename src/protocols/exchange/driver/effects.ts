// How far an exchange has come: data on their way into the transaction that writes the results.

import { failpoint } from "../../../platform/base/failpoint.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { beginCommand, completeExchange, endCommand, type Outbox, saveOutbox } from "../storage/exchange.ts";

export interface ExchangedEffects {
  /** Number of the outbox whose inbox is being executed. */
  readonly sequence: number;
  /** A command that is about to be executed, with what it found. */
  readonly begun?: { readonly position: number; readonly trace: string };
  /** One that has ended: a CommandResult as bytes. */
  readonly ended?: { readonly position: number; readonly result: Uint8Array };
  /** The next outbox, with its own number. */
  readonly outbox?: Outbox;
  /** The inbox said that the task is done. */
  readonly isComplete?: boolean;
}

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
