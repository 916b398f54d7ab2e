// Reads the single message of a stream's request. Any other body (compressed, too large, not exactly one message) is returned
// unread, so that the method's handler refuses it with its own error. This happens as soon as it shows, since the body may
// never end.

import type { DescMessage, JsonReadOptions, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { prefixBytes } from "./envelopes.ts";

/** The message, or the whole body for the handler when it is not one plain message. */
export type RequestRead =
  | { readonly message: MessageShape<DescMessage> }
  | { readonly unread: AsyncIterable<Uint8Array> };

/** The message type, codec and maximum size of a request. */
export interface RequestShape {
  readonly schema: DescMessage;
  readonly binary: boolean;
  readonly bytesMax: number;
  readonly jsonOptions?: Partial<JsonReadOptions> | undefined;
}

/** Reads the body to its end and returns its message, or the body itself, to be read again from its first byte. */
export async function readRequest(body: AsyncIterable<Uint8Array>, shape: RequestShape): Promise<RequestRead> {
  const source = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let sizeBytes: number | undefined;
  let message: MessageShape<DescMessage> | undefined;
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    chunks.push(next.value);
    bytes += next.value.byteLength;
    sizeBytes ??= sizeOfEnvelope(chunks, bytes);
    if (sizeBytes === undefined) {
      continue;
    }
    if (sizeBytes > shape.bytesMax + prefixBytes || bytes > sizeBytes) {
      return { unread: replay(chunks, source) };
    }
    if (bytes === sizeBytes) {
      message = parse(Buffer.concat(chunks, bytes).subarray(prefixBytes), shape);
      if (message === undefined) {
        return { unread: replay(chunks, source) };
      }
    }
  }
  return message === undefined ? { unread: replay(chunks, source) } : { message };
}

/**
 * Returns the size of the first envelope with its prefix. Undefined while the prefix is incomplete, infinite when flags are
 * set.
 */
function sizeOfEnvelope(chunks: readonly Uint8Array[], bytes: number): number | undefined {
  if (bytes < prefixBytes) {
    return undefined;
  }
  const received = Buffer.concat(chunks, bytes);
  return received[0] === 0 ? prefixBytes + received.readUInt32BE(1) : Number.POSITIVE_INFINITY;
}

function parse(bytes: Buffer, { schema, binary, jsonOptions }: RequestShape): MessageShape<DescMessage> | undefined {
  try {
    return binary
      ? fromBinary(schema, bytes)
      : fromJsonString(schema, new TextDecoder("utf-8", { fatal: true }).decode(bytes), {
          // The default of connect.
          ignoreUnknownFields: true,
          ...jsonOptions,
        });
  } catch {
    return undefined;
  }
}

async function* replay(
  chunks: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  try {
    yield* chunks;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    // Ends the source. Its owner drops the rest of the request only when it is not being read.
    await rest.return?.();
  }
}
