// A feed's items as envelopes: a flag byte, four bytes of length, a message. What readers share is kept with the item.

import { fromBinary, type JsonWriteOptions, toJsonString } from "@bufbuild/protobuf";
import type { Feed, FeedItem } from "../../base/feed.ts";

/** As large as one message of several items gets: well below what clients accept, and held without harm for each reader. */
const mergedBytesMax = 262_144;
const prefixBytes = 5;

export interface EnvelopeEncoder {
  /** What keeps a stream alive, and opens it. */
  readonly empty: Uint8Array;
  encode(items: readonly FeedItem[]): Uint8Array;
}

export function createProtoEncoder({ isMergeable }: Feed): EnvelopeEncoder {
  const envelopes = new WeakMap<FeedItem, Uint8Array>();
  const shared = (item: FeedItem): Uint8Array => remember(envelopes, item, () => wrap([item.bytes]));
  return {
    empty: wrap([]),
    encode: (items) => {
      const [first] = items;
      if (first !== undefined && items.length === 1) {
        return shared(first);
      }
      return isMergeable ? joined(splitBySize(items).map(wrapItems)) : joined(items.map(shared));
    },
  };
}

export function createJsonEncoder({ method }: Feed, options?: Partial<JsonWriteOptions>): EnvelopeEncoder {
  const envelopes = new WeakMap<FeedItem, Uint8Array>();
  const print = ({ bytes }: FeedItem): Uint8Array =>
    new TextEncoder().encode(toJsonString(method.output, fromBinary(method.output, bytes), options));
  return {
    empty: wrap([new TextEncoder().encode("{}")]),
    encode: (items) => joined(items.map((item) => remember(envelopes, item, () => wrap([print(item)])))),
  };
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

function remember<K extends object, V>(map: WeakMap<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) {
    return known;
  }
  const made = make();
  map.set(key, made);
  return made;
}
