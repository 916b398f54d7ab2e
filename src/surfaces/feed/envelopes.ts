// Encodes the items of a feed as envelopes: a flag byte, four bytes of length, a message. Readers share encoded bytes: of each
// item, for readers that get it beside different items, and of each batch.

import { type JsonWriteOptions, toJsonString } from "@bufbuild/protobuf";
import type { Feed, FeedItem } from "../../platform/base/feed.ts";
import { shared } from "../../platform/base/shared.ts";

/** The maximum size of one message with several items: far below what clients accept, and cheap to hold for each reader. */
const mergedBytesMax = 262_144;
/** The bytes before a message: its flags and its length. */
export const prefixBytes = 5;

/** Encodes batches of items for one codec. */
export interface EnvelopeEncoder {
  /** An empty message, which opens a stream and keeps it alive. */
  readonly empty: Uint8Array;
  encode(items: readonly FeedItem[]): Uint8Array;
}

/** Returns the encoder for Protobuf. It merges items into larger messages when the feed is mergeable. */
export function createProtoEncoder({ isMergeable }: Feed): EnvelopeEncoder {
  const envelopeOf = shared(({ bytes }: FeedItem) => wrap([bytes]));
  const encode = (items: readonly FeedItem[]): Uint8Array =>
    joined(isMergeable && items.length > 1 ? splitBySize(items).map(wrapItems) : items.map(envelopeOf));
  return { empty: wrap([]), encode: shared(encode) };
}

/** Returns the encoder for JSON, one message for each item. */
export function createJsonEncoder({ method }: Feed, options?: Partial<JsonWriteOptions>): EnvelopeEncoder {
  const print = ({ message }: FeedItem): Uint8Array =>
    new TextEncoder().encode(toJsonString(method.output, message, options));
  const envelopeOf = shared((item: FeedItem) => wrap([print(item)]));
  const encode = (items: readonly FeedItem[]): Uint8Array => joined(items.map(envelopeOf));
  return { empty: wrap([new TextEncoder().encode("{}")]), encode: shared(encode) };
}

function wrapItems(items: readonly FeedItem[]): Uint8Array {
  return wrap(items.map(({ bytes }) => bytes));
}

function wrap(parts: readonly Uint8Array[]): Uint8Array {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(
    parts.reduce((bytes, part) => bytes + part.byteLength, 0),
    1,
  );
  return Buffer.concat([prefix, ...parts]);
}

function joined(envelopes: readonly Uint8Array[]): Uint8Array {
  const [first] = envelopes;
  return first !== undefined && envelopes.length === 1 ? first : Buffer.concat(envelopes);
}

function splitBySize(items: readonly FeedItem[]): FeedItem[][] {
  const parts: FeedItem[][] = [];
  let bytes = mergedBytesMax;
  for (const item of items) {
    bytes += item.bytes.byteLength;
    if (bytes > mergedBytesMax) {
      parts.push([]);
      bytes = item.bytes.byteLength;
    }
    parts.at(-1)?.push(item);
  }
  return parts;
}
