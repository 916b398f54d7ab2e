// A cheap gRPC client: grpc-js, with streams as the raw bytes of their messages.

import {
  create,
  type DescMethod,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { benchAuthorization } from "../harness/credentials.ts";

/** No call of a bench takes this long unless something hangs. */
const deadlineMs = 60_000;
const metadata = new Metadata();
metadata.set("authorization", benchAuthorization);

/** One connection. */
export class GrpcClient implements Disposable {
  readonly #client: Client;

  constructor(target: string) {
    // Without a pool of its own a client shares the connections of all others in the process.
    this.#client = new Client(target, credentials.createInsecure(), { "grpc.use_local_subchannel_pool": 1 });
  }

  call<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): Promise<MessageShape<M["output"]>> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        pathOf(method),
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => fromBinary(method.output, bytes) as MessageShape<M["output"]>,
        encode(method, request),
        metadata,
        { deadline: Date.now() + deadlineMs },
        (error: ServiceError | null, response?: MessageShape<M["output"]>) => {
          if (error !== null) {
            reject(error);
          } else {
            resolve(response as MessageShape<M["output"]>);
          }
        },
      );
    });
  }

  /** Passes on each message of a server stream and resolves when the stream ended with OK. */
  stream<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    onMessage: (bytes: Buffer) => void,
  ): Promise<void> {
    const stream = this.#client.makeServerStreamRequest(
      pathOf(method),
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      encode(method, request),
      metadata,
      { deadline: Date.now() + deadlineMs },
    );
    return new Promise((resolve, reject) => {
      stream.on("data", onMessage).once("end", resolve).once("error", reject);
    });
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function encode<M extends DescMethod>(method: M, request: MessageInitShape<M["input"]>): Buffer {
  return Buffer.from(toBinary(method.input, create(method.input, request) as MessageShape<M["input"]>));
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
