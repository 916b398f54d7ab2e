// Follows a stream of the contract: opens it again from its cursor after each failure, closes it while the page is hidden.

import { Code, ConnectError } from "@connectrpc/connect";
import { type Turn, takeTurn } from "./turns.ts";
import { pageVisible } from "./visible.ts";

/** What a stream is doing. */
export type StreamPhase =
  | { readonly name: "connecting" | "catching-up" | "live" | "waiting" | "paused" | "ended" }
  | { readonly name: "reconnecting"; readonly retryAtMs: number; readonly why: string }
  | { readonly name: "refused"; readonly error: ConnectError };

/** One stream with its cursor. */
export interface Followed<Response> {
  /** Opens the stream after everything that was taken. */
  readonly open: (signal: AbortSignal) => AsyncIterable<Response>;
  /** Takes a response. Returns when its news was made, or undefined for a response that only keeps the stream alive. */
  readonly take: (response: Response) => number | undefined;
  readonly onPhase: (phase: StreamPhase) => void;
  /** Called each time the stream answers again after a failure. */
  readonly onResume: () => void;
}

/**
 * Stored entries arrive back to back. A stream has caught up when it is quiet for this time, or when in this time it brings no
 * more than was made in it: a clock that is wrong does not matter.
 */
const quietMs = 150;
const retryMinMs = 500;
const retryMaxMs = 8_000;

/** Failures that the same call would meet again. */
const lasting: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.NotFound,
  Code.OutOfRange,
  Code.PermissionDenied,
  Code.Unauthenticated,
  Code.Unimplemented,
]);

/** Follows a stream until it ends, is refused, or the returned function is called. Takes turns with the streams of other tabs. */
export function follow<Response>(followed: Followed<Response>): () => void {
  const stop = new AbortController();
  void keepReading(followed, stop.signal, takeTurn);
  return () => stop.abort();
}

/** Reads a stream until it ends, is refused, or is stopped. `takeTurn` is for a stream that may have to leave its connection. */
export async function keepReading<Response>(
  followed: Followed<Response>,
  stop: AbortSignal,
  takeTurn?: (stop: AbortSignal) => Promise<Turn | undefined>,
): Promise<void> {
  let retryMs = retryMinMs;
  let last: Outcome["end"] | undefined;
  while (!stop.aborted) {
    if (!pageVisible.get()) {
      followed.onPhase({ name: "paused" });
      await untilVisible(stop);
      continue;
    }
    const outcome = await readInTurn(followed, stop, last, takeTurn);
    last = outcome.end;
    if (stop.aborted || outcome.end === "hidden" || outcome.end === "over") {
      continue;
    }
    if (outcome.end === "complete") {
      followed.onPhase({ name: "ended" });
      return;
    }
    if (lasting.has(outcome.error.code)) {
      followed.onPhase({ name: "refused", error: outcome.error });
      return;
    }
    retryMs = outcome.hasOpened ? retryMinMs : Math.min(retryMs * 2, retryMaxMs);
    followed.onPhase({ name: "reconnecting", retryAtMs: Date.now() + retryMs, why: outcome.error.rawMessage });
    await wait(retryMs, stop);
  }
}

/** How reading came to an end. A page that is `hidden`, and one whose turn is `over`, left it by themselves. */
type Outcome =
  | { readonly end: "complete" }
  | { readonly end: "hidden" }
  | { readonly end: "over" }
  | { readonly end: "failed"; readonly error: ConnectError; readonly hasOpened: boolean };

async function readInTurn<Response>(
  followed: Followed<Response>,
  stop: AbortSignal,
  last: Outcome["end"] | undefined,
  takeTurn?: (stop: AbortSignal) => Promise<Turn | undefined>,
): Promise<Outcome> {
  const pause = new AbortController();
  const signal = AbortSignal.any([stop, pause.signal]);
  const unsubscribe = pageVisible.subscribe(() => pause.abort());
  const told = setTimeout(() => followed.onPhase({ name: "waiting" }), quietMs);
  let turn: Turn | undefined;
  try {
    turn = await takeTurn?.(signal).catch(() => undefined);
    clearTimeout(told);
    turn?.over.addEventListener("abort", () => pause.abort(), { once: true });
    const outcome = await readOnce(followed, signal, last);
    return pause.signal.aborted ? { end: turn?.over.aborted ? "over" : "hidden" } : outcome;
  } finally {
    clearTimeout(told);
    turn?.end();
    unsubscribe();
  }
}

async function readOnce<Response>(
  followed: Followed<Response>,
  signal: AbortSignal,
  last: Outcome["end"] | undefined,
): Promise<Outcome> {
  const pace = new Pace(() => followed.onPhase({ name: "live" }));
  let hasOpened = false;
  // A new turn is not a new connection for the person at the page.
  const isTurn = last === "over";
  try {
    for await (const response of followed.open(signal)) {
      if (!hasOpened && !isTurn) {
        if (last !== undefined) {
          followed.onResume();
        }
        followed.onPhase({ name: "catching-up" });
      }
      hasOpened = true;
      pace.note(followed.take(response));
    }
    return { end: "complete" };
  } catch (error) {
    return { end: "failed", error: ConnectError.from(error), hasOpened };
  } finally {
    pace.stop();
  }
}

/** Decides when a stream has caught up. */
export class Pace {
  readonly #onLive: () => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #from: { readonly wallMs: number; readonly madeMs: number } | undefined;
  #isLive = false;

  constructor(onLive: () => void) {
    this.#onLive = onLive;
  }

  /** Notes a response with news that was made at a time. */
  note(madeMs: number | undefined): void {
    if (this.#isLive || (madeMs === undefined && this.#timer !== undefined)) {
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#goLive(), quietMs);
    if (madeMs === undefined) {
      return;
    }
    const wallMs = performance.now();
    const passedMs = wallMs - (this.#from?.wallMs ?? wallMs);
    if (this.#from === undefined || passedMs >= quietMs) {
      if (this.#from !== undefined && madeMs - this.#from.madeMs <= passedMs * 2) {
        this.#goLive();
      }
      this.#from = { wallMs, madeMs };
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #goLive(): void {
    clearTimeout(this.#timer);
    this.#isLive = true;
    this.#onLive();
  }
}

/** Waits until the page can be seen. */
export function untilVisible(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = pageVisible.subscribe(finish);
    stop.addEventListener("abort", finish, { once: true });
    function finish(): void {
      unsubscribe();
      resolve();
    }
    if (pageVisible.get()) {
      finish();
    }
  });
}

/** Waits, and ends early when the browser is online again. */
function wait(durationMs: number, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(finish, durationMs);
    window.addEventListener("online", finish, { once: true });
    stop.addEventListener("abort", finish, { once: true });
    function finish(): void {
      clearTimeout(timer);
      window.removeEventListener("online", finish);
      resolve();
    }
  });
}
