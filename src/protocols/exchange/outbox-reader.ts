// The newest outbox, waited for while it is being written.

import { isActive } from "../../engine/storage/run.ts";
import { lastSequence } from "../../engine/storage/run-result.ts";
import { type TurnWait, untilTurnEnds } from "./await-turn.ts";
import { type ExchangeName, type ExchangeRow, findExchange, readOutbox } from "./storage/exchange.ts";
import { ended, requireExchange } from "./submit.ts";

export interface ShownOutbox {
  readonly row: ExchangeRow;
  readonly text: Uint8Array;
}

export async function showOutbox(deps: TurnWait, name: ExchangeName, caller: AbortSignal): Promise<ShownOutbox> {
  for (;;) {
    const { run_id: runId } = requireExchange(await findExchange(deps.db, name));
    // Before the row is read again: the end of a turn that is seen nowhere comes after this place.
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
