// The one message of a stream's request. Whatever is not exactly that, uncompressed and within the limit, is given back
// as it was received, for the method's own handler to refuse in its own words.

import type { DescMessage, JsonReadOptions, MessageShape } from "@bufbuild/protobuf";
import { fromBinary, fromJsonString } from "@bufbuild/protobuf";

const prefixBytes = 5;

export type RequestRead =
  | { readonly message: MessageShape<DescMessage> }
  | { readonly unread: AsyncIterable<Uint8Array> };

export async function readRequest(
  body: AsyncIterable<Uint8Array>,
  schema: DescMessage,
  { binary, bytesMax, jsonOptions }: { binary: boolean; bytesMax: number; jsonOptions?: Partial<JsonReadOptions> },
): Promise<RequestRead> {
  const source = body[Symbol.asyncIterator]();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let next = await source.next(); next.done !== true; next = await source.next()) {
    chunks.push(next.value);
    bytes += next.value.byteLength;
    if (bytes > bytesMax + prefixBytes) {
      return { unread: replay(chunks, source) };
    }
  }
  const message = parse(Buffer.concat(chunks, bytes), schema, binary, jsonOptions);
  return message === undefined ? { unread: replay(chunks, source) } : { message };
}

function parse(
  body: Buffer,
  schema: DescMessage,
  binary: boolean,
  jsonOptions: Partial<JsonReadOptions> | undefined,
): MessageShape<DescMessage> | undefined {
  const isOneMessage =
    body.length >= prefixBytes && body[0] === 0 && body.readUInt32BE(1) === body.length - prefixBytes;
  if (!isOneMessage) {
    return undefined;
  }
  const message = body.subarray(prefixBytes);
  try {
    return binary
      ? fromBinary(schema, message)
      : fromJsonString(schema, new TextDecoder("utf-8", { fatal: true }).decode(message), {
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
  yield* chunks;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    yield next.value;
  }
}
