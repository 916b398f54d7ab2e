// Watches an exchange to its end: each file of inbox/ is an answer, and each answer brings the next outbox.

import { Exchange_State } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { exitCodes } from "../exit-codes.ts";
import { type ExchangeContext, keepFiles, summaryOf } from "./context.ts";
import type { Inbox } from "./inbox.ts";
import { inTurn } from "./lock.ts";
import { callPatiently } from "./patience.ts";
import { type RunEnd, RunNews } from "./run-news.ts";
import { takeFile } from "./take.ts";

/** How often inbox/ is listed. People save files, and a look costs one list of names. */
const lookMs = 200;

/** The exchange to watch. */
export interface Watched {
  readonly id: string;
  readonly runId: string;
  readonly inbox: Inbox;
  /** The sequence of the outbox that was shown last. */
  readonly sequence: number;
  /** False when the exchange has ended: it then takes no files. */
  readonly isOpen: boolean;
}

/** Watches an exchange to its end, which decides the exit code. */
export async function watchExchange(
  context: ExchangeContext,
  { id, runId, inbox, sequence, isOpen }: Watched,
): Promise<void> {
  // The followed log reports an absence of the service, so the calls beside it do not.
  const quiet = { ...context, onAway: () => {} };
  await using news = new RunNews(context, runId);
  let [shown, mayTake] = [sequence, isOpen];
  for (;;) {
    context.signal.throwIfAborted();
    const { end } = news;
    if (end !== undefined) {
      await inTurn(context, () => keepFiles(quiet, id, "new"));
      await tellEnd(quiet, id, end);
      return;
    }
    if (news.takeFresh()) {
      shown = await showOthers(quiet, { id, shown });
    }
    const file = mayTake ? await inbox.next() : undefined;
    if (file === undefined) {
      await news.wait(lookMs, context.signal);
      continue;
    }
    const response = await inTurn(context, () => takeFile(quiet, id, { inbox, file }));
    if (response !== undefined) {
      shown = Math.max(shown, response.sequence);
      mayTake = !response.isComplete;
    }
  }
}

/** Writes the next outbox after an answer from elsewhere, over the API or from another terminal. Returns the newest sequence. */
async function showOthers(context: ExchangeContext, { id, shown }: { id: string; shown: number }): Promise<number> {
  const { service, signal } = context;
  const { exchange } = await callPatiently(context, () =>
    service.client(ExchangeService).getExchange({ exchangeId: id }, { signal }),
  );
  const { sequence = 0 } = exchange ?? {};
  if (sequence > shown) {
    await inTurn(context, () => keepFiles(context, id, "any"));
  }
  return Math.max(sequence, shown);
}

async function tellEnd(context: ExchangeContext, id: string, { failure }: RunEnd): Promise<void> {
  const { service, reporter, signal } = context;
  const { exchange } = await callPatiently(context, () =>
    service.client(ExchangeService).getExchange({ exchangeId: id }, { signal }),
  );
  if (failure === undefined) {
    await reporter.completed(id, summaryOf(exchange?.lastResults ?? []) ?? "");
    return;
  }
  const state = exchange?.state === Exchange_State.CANCELLED ? "cancelled" : "failed";
  await reporter.ended(id, state, `${failure.code}: ${failure.error}`);
  process.exitCode = exitCodes.followedFailed;
}
