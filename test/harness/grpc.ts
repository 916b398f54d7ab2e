// The reference client: unmodified @grpc/grpc-js, with codecs made from the contract's descriptors.

import {
  create,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Client, type ClientReadableStream, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { onTestFinished } from "vitest";
import { type ErrorInfo, ErrorInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { StatusSchema } from "#gen/google/rpc/status_pb.js";
import { credentialsOf } from "./credentials.ts";

/** Calls as the tests' own client by default. */
export class GrpcClient {
  readonly #client: Client;
  readonly #headers: Readonly<Record<string, string>>;

  /** Every call sends `headers`. */
  constructor(target: string, headers: Readonly<Record<string, string>> = credentialsOf()) {
    this.#headers = headers;
    this.#client = new Client(target, credentials.createInsecure());
    onTestFinished(() => this.#client.close());
  }

  /** Makes one unary call; rejects with the ServiceError of grpc-js. */
  call<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<MessageShape<M["output"]>> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        pathOf(method),
        (message: MessageShape<M["input"]>) => Buffer.from(toBinary(method.input, message)),
        (bytes: Buffer) => fromBinary(method.output, bytes) as MessageShape<M["output"]>,
        create(method.input, request) as MessageShape<M["input"]>,
        metadataOf({ ...this.#headers, ...headers }),
        { deadline: Date.now() + 30_000 },
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

  /** Opens one server stream; iterate it, or cancel it. */
  stream<M extends DescMethod>(
    method: M,
    request: MessageInitShape<M["input"]>,
    headers: Readonly<Record<string, string>> = {},
  ): ClientReadableStream<MessageShape<M["output"]>> {
    return this.#client.makeServerStreamRequest(
      pathOf(method),
      (message: MessageShape<M["input"]>) => Buffer.from(toBinary(method.input, message)),
      (bytes: Buffer) => fromBinary(method.output, bytes) as MessageShape<M["output"]>,
      create(method.input, request) as MessageShape<M["input"]>,
      metadataOf({ ...this.#headers, ...headers }),
    );
  }
}

/** Returns the service's reason of the failure; undefined when it has none. */
export function reasonOf(error: ServiceError): string | undefined {
  return errorInfoOf(error)?.reason;
}

/** Returns the same with its metadata for programs. */
export function errorInfoOf({ metadata }: Pick<ServiceError, "metadata">): ErrorInfo | undefined {
  const [bytes] = metadata?.get("grpc-status-details-bin") ?? [];
  const details = bytes instanceof Buffer ? fromBinary(StatusSchema, bytes).details : [];
  return details.map((any) => anyUnpack(any, ErrorInfoSchema)).find((info) => info !== undefined);
}

function pathOf(method: DescMethod): string {
  const service: DescService = method.parent;
  return `/${service.typeName}/${method.name}`;
}

export function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) {
    metadata.set(name, value);
  }
  return metadata;
}
