// The calls of the contract that a surface makes, in process: access checks, validation and limits are those of every surface.

import {
  create,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { Fault } from "../../platform/base/fault.ts";
import { type CallOptions, callStream, callUnary } from "./call.ts";

/** Calls methods of the contract for one request. */
export class Calls {
  readonly #handlers: ReadonlyMap<string, UniversalHandler>;
  readonly #options: CallOptions;

  constructor(handlers: ReadonlyMap<string, UniversalHandler>, options: CallOptions) {
    this.#handlers = handlers;
    this.#options = options;
  }

  /** Aborts when the caller has left. */
  get signal(): AbortSignal {
    return this.#options.signal;
  }

  /** Calls a unary method. Throws the ConnectError of the call. */
  async call<M extends DescMethodUnary>(
    method: M,
    request: MessageInitShape<M["input"]>,
    { outlives = false }: { readonly outlives?: boolean } = {},
  ): Promise<MessageShape<M["output"]>> {
    const bytes = toBinary(method.input, create(method.input, request));
    const signal = outlives ? new AbortController().signal : this.signal;
    const { message } = await callUnary(this.#handlerOf(method), bytes, { ...this.#options, signal });
    return fromBinary<M["output"]>(method.output, message);
  }

  /** Follows a stream until it ends or `signal` aborts. Throws the ConnectError that it ended with. */
  async *follow<M extends DescMethodServerStreaming>(
    method: M,
    request: MessageInitShape<M["input"]>,
    signal: AbortSignal = this.signal,
  ): AsyncGenerator<MessageShape<M["output"]>, void> {
    const bytes = toBinary(method.input, create(method.input, request));
    const { messages } = await callStream(this.#handlerOf(method), bytes, { ...this.#options, signal });
    for await (const message of messages) {
      yield fromBinary<M["output"]>(method.output, message);
    }
  }

  #handlerOf(method: DescMethodUnary | DescMethodServerStreaming): UniversalHandler {
    const handler = this.#handlers.get(`/${method.parent.typeName}/${method.name}`);
    if (handler === undefined) {
      throw new Fault("INTERNAL", `no handler for ${method.name}`);
    }
    return handler;
  }
}
