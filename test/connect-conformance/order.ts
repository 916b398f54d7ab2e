// The protocol between the suite and the server under test: one message each way, with a length prefix of four bytes.

import { buffer } from "node:stream/consumers";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type ServerCompatRequest,
  ServerCompatRequestSchema,
  ServerCompatResponseSchema,
} from "./gen/connectrpc/conformance/v1/server_compat_pb.js";

const prefixBytes = 4;

export async function readRequest(input: NodeJS.ReadableStream): Promise<ServerCompatRequest> {
  const bytes = await buffer(input);
  const message = bytes.subarray(prefixBytes);
  if (bytes.byteLength < prefixBytes || bytes.readUInt32BE() !== message.byteLength) {
    throw new Error("stdin must hold one ServerCompatRequest behind four bytes with its length");
  }
  return fromBinary(ServerCompatRequestSchema, message);
}

export function writeResponse(
  output: NodeJS.WritableStream,
  response: MessageInitShape<typeof ServerCompatResponseSchema>,
): void {
  const message = toBinary(ServerCompatResponseSchema, create(ServerCompatResponseSchema, response));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(message.byteLength);
  output.write(Buffer.concat([prefix, message]));
}
