// The source of an SSE stream: the messages of the method's handler, or the items of its feed. The text of feed items is made
// once for all readers, and the feed writes it directly to readers in step. An empty piece means that the stream is alive.

import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { over } from "../../platform/base/clock.ts";
import type { Feed, FeedItem } from "../../platform/base/feed.ts";
import { shared } from "../../platform/base/shared.ts";
import { mapSink, type Sink } from "../../platform/base/sink.ts";
import { type CallOptions, callStream, copyRequestHeaders } from "../in-process/call.ts";
import type { EventReader } from "./event.ts";
import { encodeSseEvent } from "./sse.ts";

/** An open stream as pieces of SSE text. */
export interface SseSource {
  readonly headers: Record<string, string>;
  /** The pieces of the stream. Throws the failure that the stream ended with. */
  readonly pieces: AsyncGenerator<Uint8Array, void>;
}

/** The handler of a stream, and its feed if it has one. */
export interface SseTarget {
  readonly handler: UniversalHandler;
  readonly events: EventReader;
  readonly feed: SharedText | undefined;
  /** The sink of the response, for the feed alone: a handler called in process answers the gateway, not the client. */
  readonly sink: Sink<Uint8Array> | undefined;
}

/** A feed, and the shared text of its batches. */
export interface SharedText {
  readonly feed: Feed;
  readonly textOf: (items: readonly FeedItem[]) => Uint8Array;
}

/** Pairs a feed with a function that encodes each batch and item once. */
export function shareText(feed: Feed, events: EventReader): SharedText {
  const textOfOne = shared(({ message }: FeedItem) => encodeEvents(events, message));
  return { feed, textOf: shared((items: readonly FeedItem[]) => joinTexts(items.map(textOfOne))) };
}

/** Opens the stream through its feed. Uses the handler when the method has no feed or the caller sets a timeout. */
export async function openSource(target: SseTarget, message: Uint8Array, options: CallOptions): Promise<SseSource> {
  const { handler, feed, sink } = target;
  const { headers, contextValues } = options;
  // Callers rarely set a timeout over REST; the handler knows how to read it.
  if (feed !== undefined && contextValues !== undefined && headers[timeoutHeader] === undefined) {
    return { headers: {}, pieces: readFeed(feed, message, { ...options, sink }) };
  }
  const opened = await callStream(handler, message, options);
  return { headers: opened.headers, pieces: readMessages(target, opened.messages) };
}

const timeoutHeader = "connect-timeout-ms";

async function* readMessages(
  { handler: { method }, events }: SseTarget,
  messages: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  for await (const message of messages) {
    yield encodeEvents(events, fromBinary(method.output, message));
  }
}

async function* readFeed(
  { feed, textOf }: SharedText,
  message: Uint8Array,
  { headers, signal, contextValues, sink }: CallOptions & Pick<SseTarget, "sink">,
): AsyncGenerator<Uint8Array, void> {
  const { method } = feed;
  const context = createHandlerContext({
    service: method.parent,
    method,
    requestMethod: "POST",
    protocolName: "rest",
    url: `http://localhost/${method.parent.typeName}/${method.name}`,
    requestSignal: signal,
    requestHeader: copyRequestHeaders(headers),
    ...(contextValues !== undefined && { contextValues }),
  });
  try {
    const request = fromBinary<DescMessage>(method.input, message);
    for await (const items of feed.open(request, context, sink && mapSink(sink, textOf))) {
      yield textOf(items);
    }
  } finally {
    context.abort(over);
  }
}

function joinTexts(texts: readonly Uint8Array[]): Uint8Array {
  const [first] = texts;
  return first !== undefined && texts.length === 1 ? first : Buffer.concat(texts);
}

function encodeEvents(events: EventReader, message: Message): Uint8Array {
  return Buffer.from(events.read(message).map(encodeSseEvent).join(""));
}
