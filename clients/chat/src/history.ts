// The history of a conversation, which the tab keeps over a reload. It is in the tab's own storage: two tabs do not overwrite each
// other, and it goes when the tab is closed. It has no ticket.

import type { Answer } from "./answer.ts";

/** A message of the visitor, and its answer. */
export interface Exchange {
  /** The idempotency key of the message. */
  readonly requestId: string;
  readonly message: string;
  /** Unset until the site has started the run. */
  runId?: string;
  readonly answer: Answer;
}

/** A tab has about 5 MB for the whole site. Older exchanges are gone after a reload. */
const exchangesMax = 200;

/** Changes with the form of what is kept: a history of another form is left out. */
const form = 1;

export function loadHistory(conversation: string): Exchange[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(conversation)) ?? "{}");
    return kept.form === form ? kept.exchanges : [];
  } catch {
    // The storage is forbidden, or another program has written there.
    return [];
  }
}

/** Keeps the newest exchanges: as many as there is room for. */
export function saveHistory(conversation: string, exchanges: readonly Exchange[]): void {
  for (let count = exchangesMax; count >= 1; count = Math.floor(count / 2)) {
    try {
      sessionStorage.setItem(keyOf(conversation), JSON.stringify({ form, exchanges: exchanges.slice(-count) }));
      return;
    } catch {
      // No room, or no storage at all.
    }
  }
}

function keyOf(conversation: string): string {
  return `runnel-chat:${conversation}`;
}
