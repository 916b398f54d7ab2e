// A feed's items as envelopes: a flag byte, four bytes of length, a message. What readers share is made once: an item's,
// for readers who get it with different neighbours, and a batch's.

import { fromBinary, type JsonWriteOptions, toJsonString } from "@bufbuild/protobuf";
import type { Feed, FeedItem } from "../../platform/base/feed.ts";
import { shared } from "../../platform/base/shared.ts";

/** As large as one message of several items gets: well below what clients accept, and held without harm for each reader. */
const mergedBytesMax = 262_144;
const prefixBytes = 5;

export interface EnvelopeEncoder {
  /** What keeps a stream alive, and opens it. */
  readonly empty: Uint8Array;
  encode(items: readonly FeedItem[]): Uint8Array;
}

export function createProtoEncoder({ isMergeable }: Feed): EnvelopeEncoder {
  const envelopeOf = shared(({ bytes }: FeedItem) => wrap([bytes]));
  const encode = (items: readonly FeedItem[]): Uint8Array =>
    joined(isMergeable && items.length > 1 ? splitBySize(items).map(wrapItems) : items.map(envelopeOf));
  return { empty: wrap([]), encode: shared(encode) };
}

export function createJsonEncoder({ method }: Feed, options?: Partial<JsonWriteOptions>): EnvelopeEncoder {
  const print = ({ bytes }: FeedItem): Uint8Array =>
    new TextEncoder().encode(toJsonString(method.output, fromBinary(method.output, bytes), options));
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
