// A hand-written gRPC call, for peers that do what no client library does.

import { create, type DescMethod, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { credentialsOf } from "../../harness/credentials.ts";

export type Head = Readonly<Record<string, string>>;

export function grpcHead(method: DescMethod): Head {
  return {
    ":method": "POST",
    ":path": `/${method.parent.typeName}/${method.name}`,
    "content-type": "application/grpc",
    te: "trailers",
    ...credentialsOf(),
  };
}

export function envelope<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): Buffer {
  return frame(toBinary(method.input, create(method.input, request)));
}

/** `claimedBytes` is the length in the prefix. */
export function frame(message: Uint8Array, { flag = 0, claimedBytes = message.length } = {}): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag);
  prefix.writeUInt32BE(claimedBytes, 1);
  return Buffer.concat([prefix, message]);
}
