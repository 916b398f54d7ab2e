// The HTTP side of a provider: one keep-alive pool, and limits on the size of responses.
//
// T1  An aborted signal closes the socket at once.
// T2  Every fault of the provider is thrown as a ProviderFailure.
// T3  No response makes us hold more than the bounds of a stream, an error body of `errorBodyBytesMax`, or an answer of
//     `answerBytesMax`.

import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { text } from "node:stream/consumers";
import { type Clock, over } from "../../../platform/base/clock.ts";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import {
  describeCut,
  describeHeadersTimeout,
  describeHttpError,
  describeStreamError,
  describeUnreachable,
  describeUnreadable,
  findFailure,
  ProviderFailure,
  readRetryAfter,
} from "./failures.ts";
import type { RecordedExchange, Recorder } from "./recorder.ts";

/** The provider's name and base URL, and the clock. */
export interface TransportOptions {
  readonly provider: string;
  readonly baseUrl: URL;
  readonly clock: Clock;
}

/** Sends requests to one provider. */
export interface Transport {
  /** Posts JSON and returns the response once it has proved to be a stream. */
  post(path: string, post: Post): Promise<IncomingMessage>;
  /** Posts JSON and returns the whole answer. */
  ask(path: string, post: Post): Promise<string>;
  /** Ends the active requests and closes every socket. */
  close(): void;
}

/** A request with a JSON body. */
export interface Post {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
  readonly recorder?: Recorder | undefined;
}

/** A request that is on its way. */
interface Sent {
  readonly request: ClientRequest;
  readonly body: string;
  /** Undefined when nothing records it. */
  readonly recorded: RecordedExchange | undefined;
}

/** The timeout for the headers. A provider without headers by then counts as hung; queueing providers send them sooner. */
export const headersLimitMs = 30_000;

/** The maximum number of sockets, one for each active response. It keeps a burst of runs below the usual descriptor limit. */
const socketsMax = 512;

/** The idle timeout of a socket. Providers and load balancers close idle sockets after 60 s or more, so we close first. */
const idleSocketMs = 30_000;

/** The maximum that is read of an error body: 2000 characters of any script fit. */
const errorBodyBytesMax = 8192;

/** The maximum size of a whole answer. A reranker may return the documents it was sent. */
export const answerBytesMax = 8 * 1_048_576;

/** Creates the transport with its own socket pool. */
export function createTransport(options: TransportOptions): Transport {
  const pool = { keepAlive: true, maxSockets: socketsMax, timeout: idleSocketMs };
  const secure = options.baseUrl.protocol === "https:";
  const agent = secure ? new HttpsAgent(pool) : new HttpAgent(pool);
  // An explicit 0, because otherwise the pool's idle timeout would also end a model that thinks for long.
  const fixed = { agent, timeout: 0 };
  const open = secure ? requestHttps : requestHttp;
  const send = (path: string, accept: string, { headers, body, signal, recorder }: Post): Sent => {
    const url = new URL(options.baseUrl.href.replace(/(?<!\/)\/*$/, path));
    const typed = { "content-type": "application/json", accept, ...headers };
    const recorded = recorder?.open(path, { headers: typed, body });
    const request = open(url, { ...fixed, method: "POST", headers: typed });
    destroyOnAbort(request, signal);
    return { request, body, recorded };
  };
  return {
    post: async (path, post) => await exchange(options, send(path, "text/event-stream", post), refuseOtherThanStream),
    ask: async (path, post) => {
      const response = await exchange(options, send(path, "application/json", post), refuseErrors);
      return await readAnswer(options, response);
    },
    close: () => agent.destroy(),
  };
}

/**
 * Destroys the request when the signal aborts before the response is complete. Node's own `signal` option would also destroy a
 * socket that has just served its response. Until that socket is back in the pool it has no error listener, so its error would
 * end the process.
 */
function destroyOnAbort(request: ClientRequest, signal: AbortSignal): void {
  let response: IncomingMessage | undefined;
  const stop = (): void => {
    if (response?.complete !== true) {
      request.destroy(signal.reason);
    }
  };
  request.once("response", (arrived) => {
    response = arrived;
  });
  request.once("close", () => signal.removeEventListener("abort", stop));
  if (signal.aborted) {
    stop();
  } else {
    signal.addEventListener("abort", stop, { once: true });
  }
}

async function exchange(
  options: TransportOptions,
  { request, body, recorded }: Sent,
  refuse: (options: TransportOptions, response: IncomingMessage) => Promise<void>,
): Promise<IncomingMessage> {
  const answered = new AbortController();
  let late = false;
  // Never rejects, and ends with the exchange.
  void options.clock.sleep(headersLimitMs, answered.signal).then(() => {
    if (answered.signal.aborted) {
      return;
    }
    late = true;
    request.destroy();
  });
  try {
    const response = await awaitResponse(request, body);
    recorded?.answer(response);
    await refuse(options, response);
    return response;
  } catch (error) {
    if (late) {
      throw new ProviderFailure(describeHeadersTimeout(options.provider, headersLimitMs), error);
    }
    if (error instanceof ProviderFailure) {
      throw error;
    }
    throw new ProviderFailure(describeUnreachable(options.provider, error), error);
  } finally {
    answered.abort(over);
  }
}

function awaitResponse(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Stays attached. Once the response arrives, the response's own stream reports errors of the socket.
    request.on("error", reject);
    request.once("response", resolve);
    request.end(body);
  });
}

async function refuseErrors(options: TransportOptions, response: IncomingMessage): Promise<void> {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) {
    const retryAfterMs = readRetryAfter(response.headers, options.clock.nowMs());
    throw new ProviderFailure(describeHttpError(status, await readErrorBody(response), retryAfterMs));
  }
}

async function refuseOtherThanStream(options: TransportOptions, response: IncomingMessage): Promise<void> {
  await refuseErrors(options, response);
  const mediaType = response.headers["content-type"] ?? "";
  // A web page or a whole JSON answer: most likely the base URL is wrong or lacks its `/v1`.
  if (/^(text\/html|application\/json)\b/i.test(mediaType)) {
    const body = await readErrorBody(response);
    const error = findErrorOf(body);
    if (error !== undefined) {
      throw new ProviderFailure(describeStreamError(error));
    }
    const found = `expected an event stream, got ${mediaType}; check the base URL: ${body}`;
    throw new ProviderFailure(describeUnreadable(options.provider, found));
  }
}

/** Returns the error of a JSON answer, such as `{"error":{"message":"no credits left"}}`; undefined when it has none. */
function findErrorOf(body: string): unknown {
  const { error }: { readonly error?: unknown } = parseObject(body) ?? {};
  return error ?? undefined;
}

/** Reads a whole answer. A body that breaks off is a failure. */
async function readAnswer({ provider }: TransportOptions, response: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  let leftBytes = answerBytesMax;
  try {
    for await (const piece of response as AsyncIterable<Uint8Array>) {
      leftBytes -= piece.byteLength;
      if (leftBytes < 0) {
        throw new ProviderFailure(describeUnreadable(provider, `it is longer than ${answerBytesMax} bytes`));
      }
      pieces.push(piece);
    }
  } catch (error) {
    throw toFailure(provider, error instanceof Error ? error : new Error(String(error)));
  }
  return Buffer.concat(pieces).toString();
}

async function readErrorBody(response: IncomingMessage): Promise<string> {
  return await text(takeBytes(response, errorBodyBytesMax));
}

// An incomplete error body is still useful, because the status says the rest.
async function* takeBytes(response: IncomingMessage, bytesMax: number): AsyncGenerator<Uint8Array> {
  let leftBytes = bytesMax;
  try {
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      yield chunk.subarray(0, leftBytes);
      leftBytes -= chunk.byteLength;
      if (leftBytes <= 0) {
        return;
      }
    }
  } catch {
    return;
  }
}

function toFailure(provider: string, error: Error): Error {
  return findFailure(error) === undefined ? new ProviderFailure(describeCut(provider, error), error) : error;
}
