// Serves a feed instead of its method's handler. The same request gets the same answer over gRPC, gRPC-Web and Connect, for a
// tenth of the work per message. Unusual requests (compressed, malformed, too large, refused) go to the handler itself.
//
// F1  The bytes of an item are made once, however many readers it has.
// F2  The feed is read only after the reader has taken the bytes before.
// F3  The feed ends when the reader leaves.
// F4  Bytes that the answer's sink takes go between two pieces of the body, never into one.

import type { JsonReadOptions, JsonWriteOptions } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { UniversalHandler, UniversalHandlerFn, UniversalServerRequest } from "@connectrpc/connect/protocol";
import { over } from "../../platform/base/clock.ts";
import type { Feed, FeedItem } from "../../platform/base/feed.ts";
import { answerSinkOf, mapSink } from "../../platform/base/sink.ts";
import { createJsonEncoder, createProtoEncoder, type EnvelopeEncoder } from "./envelopes.ts";
import { openContext, readStreamCall, type StreamCall } from "./protocols.ts";
import { readRequest } from "./request.ts";

/** Limits and JSON options of feed handlers: the same as in the router. */
export interface FeedHandlerOptions {
  /** The maximum size of a request message, and the maximum timeout: those of the router. */
  readonly readMaxBytes: number;
  readonly maxTimeoutMs: number;
  readonly shutdownSignal?: AbortSignal;
  readonly jsonOptions?: Partial<JsonReadOptions & JsonWriteOptions>;
}

/** Returns the handlers of a router. A feed replaces the handler of its method. */
export function mountFeeds(
  handlers: readonly UniversalHandler[],
  feeds: readonly Feed[],
  options: FeedHandlerOptions,
): UniversalHandler[] {
  return handlers.map((handler) => {
    const feed = feeds.find(({ method }) => method === handler.method);
    return feed === undefined ? handler : createFeedHandler(feed, handler, options);
  });
}

function createFeedHandler(feed: Feed, handler: UniversalHandler, options: FeedHandlerOptions): UniversalHandler {
  const { readMaxBytes, maxTimeoutMs, shutdownSignal, jsonOptions } = options;
  const encoders = { proto: createProtoEncoder(feed), json: createJsonEncoder(feed, jsonOptions) };
  const handle: UniversalHandlerFn = async (request) => {
    const call = readStreamCall(request, maxTimeoutMs);
    const { body, contextValues } = request;
    if (call === undefined || contextValues === undefined || !feed.admits(contextValues) || !isStream(body)) {
      return await handler(request);
    }
    const { binary } = call;
    const { method } = feed;
    // Opened before the request is read: its deadline is already running.
    const context = openContext(call, request, { method, ...(shutdownSignal && { shutdownSignal }) });
    const shape = { schema: method.input, binary, bytesMax: readMaxBytes, jsonOptions };
    const read = await readRequest(body, shape).catch((error: unknown) => {
      context.abort(error);
      throw error;
    });
    if ("unread" in read) {
      context.abort();
      return await handler({ ...request, body: read.unread });
    }
    const encoder = binary ? encoders.proto : encoders.json;
    const bytes = answerSinkOf(contextValues);
    const sink = bytes && mapSink(bytes, encoder.encode);
    const answer = new FeedBody(feed.open(read.message, context, sink), { call, context, encoder });
    const { responseHeader: header, responseTrailer: trailer } = context;
    const isTrailed = call.protocol.name === "grpc";
    return { status: 200, header, body: await answer.begin(), ...(isTrailed && { trailer }) };
  };
  const { protocolNames, service, method, requestPath, allowedMethods, supportedContentType } = handler;
  return Object.assign(handle, { protocolNames, service, method, requestPath, allowedMethods, supportedContentType });
}

interface Answering {
  readonly call: StreamCall;
  readonly context: ReturnType<typeof openContext>;
  readonly encoder: EnvelopeEncoder;
}

/** The body of an answer. An iterator written by hand: a generator would cost more than everything else. */
class FeedBody implements AsyncIterableIterator<Uint8Array> {
  readonly #feed: AsyncGenerator<readonly FeedItem[], void>;
  readonly #answering: Answering;
  #first: Promise<IteratorResult<Uint8Array>> | undefined;
  #isEnded = false;

  constructor(feed: AsyncGenerator<readonly FeedItem[], void>, answering: Answering) {
    this.#feed = feed;
    this.#answering = answering;
  }

  /** Resolves with the body once its first bytes exist. Until then the caller may still set headers. */
  async begin(): Promise<this> {
    const first = this.#pull();
    this.#first = first;
    await first;
    return this;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const first = this.#first;
    this.#first = undefined;
    return first ?? this.#pull();
  }

  /** Ends the feed because the reader has left. */
  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#leave(undefined);
    return finished;
  }

  /** Ends the feed because its bytes could not be sent. */
  async throw(error?: unknown): Promise<IteratorResult<Uint8Array>> {
    this.#leave(error);
    return finished;
  }

  async #pull(): Promise<IteratorResult<Uint8Array>> {
    if (this.#isEnded) {
      return finished;
    }
    try {
      const next = await this.#feed.next();
      if (next.done === true) {
        return this.#end(undefined);
      }
      const { encoder } = this.#answering;
      const { value: items } = next;
      return { done: false, value: items.length === 0 ? encoder.empty : encoder.encode(items) };
    } catch (error) {
      return this.#end(error);
    }
  }

  #end(error: unknown): IteratorResult<Uint8Array> {
    this.#isEnded = true;
    const { call, context } = this.#answering;
    const last = call.protocol.end(context, error === undefined ? undefined : explain(error));
    context.abort(error ?? over);
    return last === undefined ? finished : { done: false, value: last };
  }

  #leave(error: unknown): void {
    // Without effect after the end: the context has already been aborted.
    if (this.#isEnded) {
      return;
    }
    this.#isEnded = true;
    this.#answering.context.abort(error);
    // Not awaited: the signal ends the feed.
    this.#feed.return().catch(() => {});
  }
}

const finished = { done: true, value: undefined } as const;

function explain(error: unknown): ConnectError {
  return error instanceof ConnectError ? error : new ConnectError("internal error", Code.Internal);
}

function isStream(body: UniversalServerRequest["body"]): body is AsyncIterable<Uint8Array> {
  return Symbol.asyncIterator in Object(body);
}
