// Reads the newest outbox, and waits while it is being written.

import { isActive } from "../../engine/storage/run.ts";
import { lastSequence } from "../../engine/storage/run-result.ts";
import { type TurnWait, untilTurnEnds } from "./await-turn.ts";
import { type ExchangeName, type ExchangeRow, findExchange, readOutbox } from "./storage/exchange.ts";
import { ended, requireExchange } from "./submit.ts";

/** The newest outbox and its exchange. */
export interface ShownOutbox {
  readonly row: ExchangeRow;
  readonly text: Uint8Array;
}

/**
 * Returns the newest outbox.
 * @throws Fault EXCHANGE_NOT_FOUND when the exchange is unknown, EXCHANGE_ENDED when it ended before its first outbox.
 */
export async function showOutbox(deps: TurnWait, name: ExchangeName, caller: AbortSignal): Promise<ShownOutbox> {
  for (;;) {
    const { run_id: runId } = requireExchange(await findExchange(deps.db, name));
    // Read before the row: the end of a turn that this row does not show yet comes after this position.
    const after = await lastSequence(deps.db, runId);
    const row = requireExchange(await findExchange(deps.db, name));
    if (row.status === "waiting" || !isActive(row.status)) {
      const text = await readOutbox(deps.db, row.session);
      if (text === undefined) {
        throw ended(row);
      }
      return { row, text };
    }
    await untilTurnEnds(deps, { runId, after, caller, words: stillRunning });
  }
}

const stillRunning = "the outbox is still being written: call again";
