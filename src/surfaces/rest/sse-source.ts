// The source of an SSE stream: the messages of the method's handler, or the items of its feed. The text of feed items is made
// once for all readers, and the feed writes it directly to readers in step. An empty piece means that the stream is alive.

import type { Message } from "@bufbuild/protobuf";
import { over } from "../../platform/base/clock.ts";
import type { Feed, FeedItem } from "../../platform/base/feed.ts";
import type { LocalMethod } from "../../platform/base/local-methods.ts";
import { shared } from "../../platform/base/shared.ts";
import { mapSink, type Sink } from "../../platform/base/sink.ts";
import { type CallOptions, callStream, openCallContext } from "../in-process/call.ts";
import type { EventReader } from "./event.ts";
import { encodeSseEvent } from "./sse.ts";

/** The handler of a stream, and its feed if it has one. */
export interface SseTarget {
  readonly handler: LocalMethod;
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

/** Opens the stream, through its feed if it has one, as pieces of SSE text. Throws the failure that the stream ends with. */
export function openSource(
  { handler, events, feed, sink }: SseTarget,
  message: Message,
  options: CallOptions,
): AsyncGenerator<Uint8Array, void> {
  return feed === undefined
    ? readMessages(events, callStream(handler, message, options))
    : readFeed(feed, message, options, sink);
}

async function* readMessages(events: EventReader, messages: AsyncIterable<Message>): AsyncGenerator<Uint8Array, void> {
  for await (const message of messages) {
    yield encodeEvents(events, message);
  }
}

async function* readFeed(
  { feed, textOf }: SharedText,
  message: Message,
  options: CallOptions,
  sink: Sink<Uint8Array> | undefined,
): AsyncGenerator<Uint8Array, void> {
  const context = openCallContext(feed.method, options);
  try {
    for await (const items of feed.open(message, context, sink && mapSink(sink, textOf))) {
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
