// Answers a REST call of a server-streaming method with SSE. Everything that can be refused is refused before the first
// message, so the head is only written once that message is there. Never reads ahead of the client.

import type { RestProfile } from "#gen/runnel/options/v1/options_pb.js";
import type { CallOptions } from "./call.ts";
import { printFailure } from "./errors.ts";
import { describeFailure } from "./failure.ts";
import { endStream, type RestResponse, sendEmpty, setHead, writePiece } from "./respond.ts";
import { encodeSseEvent, sseHeartbeat, sseOpening } from "./sse.ts";
import { openSource, type SseSource, type SseTarget } from "./sse-source.ts";

export interface StreamTarget extends SseTarget {
  readonly profile: RestProfile;
}

/**
 * Rejects with the failure that the call ends with: before the first message nothing has been sent, afterwards the
 * stream has been closed. A stream that ends well without any message answers 204, which tells an EventSource not to
 * come back.
 */
export async function answerStream(
  target: StreamTarget,
  message: Uint8Array,
  response: RestResponse,
  options: CallOptions,
): Promise<void> {
  const { signal } = options;
  const opening = openSource(target, message, options);
  const opened = await unlessAborted(opening, signal);
  if (opened === undefined) {
    discardWhenOpened(opening);
    return;
  }
  const { headers, pieces } = opened;
  try {
    const first = await unlessAborted(pieces.next(), signal);
    if (first === undefined) {
      return;
    }
    if (first.done === true) {
      sendEmpty(response, headers);
      return;
    }
    setHead(response, 200, { ...headers, ...sseHeaders });
    await writePiece(response, sseOpening);
    await writeEvents(target, first, pieces, response, signal);
  } finally {
    // Not awaited: a handler that waits for something else than its signal would keep the call forever.
    pieces.return().catch(() => undefined);
  }
}

type Next = IteratorResult<Uint8Array, void> | undefined;

/** Writes until the stream or the client ends, and closes the stream. */
async function writeEvents(
  { events, profile }: StreamTarget,
  first: IteratorYieldResult<Uint8Array>,
  pieces: AsyncGenerator<Uint8Array, void>,
  response: RestResponse,
  signal: AbortSignal,
): Promise<void> {
  const close = (type: string, data: string): void => {
    endStream(response, events.endsItself ? "" : encodeSseEvent({ id: "", type, data }));
  };
  try {
    // The opening comment has just said that the stream is alive, so an empty first piece needs no heartbeat.
    await writePiece(response, first.value);
    let next: Next = await unlessAborted(pieces.next(), signal);
    while (next?.done === false) {
      await writePiece(response, next.value.byteLength === 0 ? sseHeartbeat : next.value);
      next = await unlessAborted(pieces.next(), signal);
    }
    close("end", "{}");
  } catch (error) {
    close("error", printFailure(describeFailure(error), profile));
    throw error;
  }
}

/** `connection: keep-alive` is written by Node where it is true: over HTTP/1.1, unless the client asked for a close. */
const sseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Asks nginx not to buffer.
  "x-accel-buffering": "no",
};

/** What the promise brings, or undefined as soon as the signal aborts, even if the one who promised does not notice. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    // Added and removed each time: racing against one long promise would collect a callback per message.
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    if (signal.aborted) {
      leave();
    }
  });
}

/** Ends a stream that opens after its client has left; it has to be begun for its handler to be told. */
function discardWhenOpened(opening: Promise<SseSource>): void {
  opening
    .then(async ({ pieces }) => {
      await pieces.next();
      await pieces.return();
    })
    .catch(() => undefined);
}
