// The calls of the contract that a surface makes, in process: access checks, validation and limits are those of every surface.

import {
  create,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Fault } from "../../platform/base/fault.ts";
import type { LocalMethod, LocalMethods } from "../../platform/base/local-methods.ts";
import { type CallOptions, callStream, callUnary } from "./call.ts";

/** Calls methods of the contract for one request. */
export class Calls {
  readonly #methods: LocalMethods;
  readonly #options: CallOptions;

  constructor(methods: LocalMethods, options: CallOptions) {
    this.#methods = methods;
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
    const signal = outlives ? new AbortController().signal : this.signal;
    const options = { ...this.#options, signal };
    const answer = await callUnary(this.#find(method), create(method.input, request), options);
    return answer as MessageShape<M["output"]>;
  }

  /** Follows a stream until it ends or `signal` aborts. Throws the ConnectError that it ended with. */
  async *follow<M extends DescMethodServerStreaming>(
    method: M,
    request: MessageInitShape<M["input"]>,
    signal: AbortSignal = this.signal,
  ): AsyncGenerator<MessageShape<M["output"]>, void> {
    const options = { ...this.#options, signal };
    for await (const message of callStream(this.#find(method), create(method.input, request), options)) {
      yield message as MessageShape<M["output"]>;
    }
  }

  #find(method: DescMethodUnary | DescMethodServerStreaming): LocalMethod {
    const found = this.#methods.get(method);
    if (found === undefined) {
      throw new Fault("INTERNAL", `no handler for ${method.name}`);
    }
    return found;
  }
}
