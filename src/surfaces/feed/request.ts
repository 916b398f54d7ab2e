// The one message of a stream's request. Whatever is not exactly that, uncompressed and within the limit, is given back
// as it was received, for the method's own handler to refuse in its own words; as soon as it is seen, since its end may
// never come.

import type { DescMessage, JsonReadOptions, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, fromJsonString } from "@bufbuild/protobuf";

const prefixBytes = 5;

export type RequestRead =
  | { readonly message: MessageShape<DescMessage> }
  | { readonly unread: AsyncIterable<Uint8Array> };

export interface RequestShape {
  readonly schema: DescMessage;
  readonly binary: boolean;
  readonly bytesMax: number;
  readonly jsonOptions?: Partial<JsonReadOptions> | undefined;
}

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

/** With its prefix; undefined while that is not there yet, infinite for one that is not a plain message. */
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
          // As connect reads JSON.
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
    // Whoever takes the rest off the wire has to know that nobody reads it any more.
    await rest.return?.();
  }
}
