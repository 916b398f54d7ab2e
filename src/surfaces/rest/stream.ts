// Answers a REST call of a server-streaming method with SSE. The head is written only after the first message, because a call
// can be refused until then. Never reads ahead of the client.

import type { Message } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import type { Failure } from "../../platform/base/error-form.ts";
import { styleJson } from "../../platform/base/json/print.ts";
import type { CallOptions } from "../in-process/call.ts";
import { codeNames, type ErrorStyle, printFailure } from "./errors.ts";
import { describeFailure } from "./failure.ts";
import { endStream, type RestResponse, sendEmpty, setHead, writePiece } from "./respond.ts";
import { encodeSseEvent, sseHeartbeat, sseOpening } from "./sse.ts";
import { openSource, type SseTarget } from "./sse-source.ts";

/** The stream to serve, and the style of its errors. */
export interface StreamTarget extends SseTarget {
  readonly errorStyle: ErrorStyle;
}

/**
 * Answers a streaming call. Rejects with the failure of the call: before the first message nothing has been sent, afterwards
 * the stream has been closed. A stream that ends well without a message answers 204, so that an EventSource does not reconnect.
 */
export async function answerStream(
  target: StreamTarget,
  message: Message,
  response: RestResponse,
  options: CallOptions,
): Promise<void> {
  const { signal } = options;
  const pieces = openSource(target, message, options);
  try {
    const first = await unlessAborted(pieces.next(), signal);
    if (first === undefined) {
      return;
    }
    if (first.done === true) {
      sendEmpty(response, {});
      return;
    }
    setHead(response, 200, sseHeaders);
    await writePiece(response, sseOpening);
    await writeEvents(target, first, pieces, response, signal);
  } finally {
    // Not awaited: a handler that ignores its signal would keep the call open without end.
    pieces.return().catch(() => undefined);
  }
}

type Next = IteratorResult<Uint8Array, void> | undefined;

/** Writes pieces until the stream ends or the client leaves, and closes the stream. */
async function writeEvents(
  { events, errorStyle }: StreamTarget,
  first: IteratorYieldResult<Uint8Array>,
  pieces: AsyncGenerator<Uint8Array, void>,
  response: RestResponse,
  signal: AbortSignal,
): Promise<void> {
  const close = (type: string, data: string): void => endStream(response, encodeSseEvent({ id: "", type, data }));
  try {
    // The opening comment has just shown that the stream is alive, so an empty first piece needs no heartbeat.
    await writePiece(response, first.value);
    let next: Next = await unlessAborted(pieces.next(), signal);
    while (next?.done === false) {
      await writePiece(response, next.value.byteLength === 0 ? sseHeartbeat : next.value);
      next = await unlessAborted(pieces.next(), signal);
    }
    if (events.endsItself) {
      endStream(response, "");
    } else {
      close("end", "{}");
    }
  } catch (error) {
    const failure = describeFailure(error);
    if (!events.endsItself) {
      close("error", printFailure(failure, errorStyle));
    } else if (failure.code === Code.Unavailable) {
      // A reader of the Agent Runner document would take an event for the end of the run. It calls again as after a lost connection.
      endStream(response, "");
    } else {
      close("error", printErrorEvent(failure, errorStyle));
    }
    throw error;
  }
}

/** Returns the data of the document's event `error`, which has a form of its own. */
function printErrorEvent({ message, reason, code }: Failure, style: ErrorStyle): string {
  return styleJson(JSON.stringify({ message, reason: reason ?? codeNames[code] }), style);
}

/**
 * The headers of a stream. Node adds `connection: keep-alive` where it applies: over HTTP/1.1, unless the client asked for a
 * close.
 */
const sseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-store",
  // Asks nginx not to buffer.
  "x-accel-buffering": "no",
};

/** Returns the result of the promise, or undefined as soon as the signal aborts, even if the promise never settles. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    // Added and removed each time: racing against one long promise would collect a callback for each message.
    signal.addEventListener("abort", leave, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
    if (signal.aborted) {
      leave();
    }
  });
}
