// An exchange, watched to its end: each file of inbox/ is an answer, and each answer brings the next outbox.

import { Exchange_State } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { exitCodes } from "../exit-codes.ts";
import { type Desk, keepFiles, summaryOf } from "./desk.ts";
import type { Inbox } from "./inbox.ts";
import { inTurn } from "./lock.ts";
import { callPatiently } from "./patience.ts";
import { type RunEnd, RunNews } from "./run-news.ts";
import { takeFile } from "./take.ts";

/** People save files; a look costs one list of names. */
const lookMs = 200;

export interface Watched {
  readonly id: string;
  readonly runId: string;
  readonly inbox: Inbox;
  /** Of the outbox that was told of. */
  readonly sequence: number;
  /** False when it has ended: then its files are nobody's answers. */
  readonly isOpen: boolean;
}

/** Sets the exit code by how it ended. */
export async function watchExchange(desk: Desk, { id, runId, inbox, sequence, isOpen }: Watched): Promise<void> {
  // Who goes away is told of by the log that is followed.
  const quiet = { ...desk, onAway: () => {} };
  await using news = new RunNews(desk, runId);
  let [shown, mayTake] = [sequence, isOpen];
  for (;;) {
    desk.signal.throwIfAborted();
    const { end } = news;
    if (end !== undefined) {
      await inTurn(desk, () => keepFiles(quiet, id, "new"));
      await tellEnd(quiet, id, end);
      return;
    }
    if (news.takeFresh()) {
      shown = await showOthers(quiet, { id, shown });
    }
    const file = mayTake ? await inbox.next() : undefined;
    if (file === undefined) {
      await news.wait(lookMs, desk.signal);
      continue;
    }
    const response = await inTurn(desk, () => takeFile(quiet, id, { inbox, file }));
    if (response !== undefined) {
      shown = Math.max(shown, response.sequence);
      mayTake = !response.isComplete;
    }
  }
}

/** Whoever else answered it, over the API or from another terminal: the next outbox is written here too. */
async function showOthers(desk: Desk, { id, shown }: { id: string; shown: number }): Promise<number> {
  const { service, signal } = desk;
  const { exchange } = await callPatiently(desk, () =>
    service.client(ExchangeService).getExchange({ exchangeId: id }, { signal }),
  );
  const { sequence = 0 } = exchange ?? {};
  if (sequence > shown) {
    await inTurn(desk, () => keepFiles(desk, id, "any"));
  }
  return Math.max(sequence, shown);
}

async function tellEnd(desk: Desk, id: string, { failure }: RunEnd): Promise<void> {
  const { service, teller, signal } = desk;
  const { exchange } = await callPatiently(desk, () =>
    service.client(ExchangeService).getExchange({ exchangeId: id }, { signal }),
  );
  if (failure === undefined) {
    await teller.completed(id, summaryOf(exchange?.lastResults ?? []) ?? "");
    return;
  }
  const state = exchange?.state === Exchange_State.CANCELLED ? "cancelled" : "failed";
  await teller.ended(id, state, `${failure.code}: ${failure.error}`);
  process.exitCode = exitCodes.followedFailed;
}
