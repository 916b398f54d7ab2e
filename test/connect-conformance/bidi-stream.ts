// BidiStream: full duplex answers each request as it comes, half duplex answers when all requests have come. The first request
// decides which mode applies, and what the answers are.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { setMetadata, toError, waitDelay } from "./definition.ts";
import type {
  BidiStreamRequest,
  BidiStreamResponseSchema,
  StreamResponseDefinition,
} from "./gen/connectrpc/conformance/v1/service_pb.js";
import { describeRequests, packRequests } from "./request-info.ts";

type Response = MessageInitShape<typeof BidiStreamResponseSchema>;

export async function* answerBidiStream(
  requests: AsyncIterable<BidiStreamRequest>,
  context: HandlerContext,
): AsyncGenerator<Response, void> {
  let first: BidiStreamRequest | undefined;
  let answers: Answers | undefined;
  for await (const request of requests) {
    if (first === undefined) {
      first = request;
      answers = first.responseDefinition && new Answers(first.responseDefinition, context);
    }
    answers?.receive(request);
    if (first.fullDuplex) {
      if (answers === undefined || answers.isDone) {
        break;
      }
      yield await answers.next();
    }
  }
  while (answers !== undefined && !answers.isDone) {
    yield await answers.next();
  }
  answers?.throwIfFailing();
}

/** The answers of one definition, in order, each with the requests since the answer before it. */
class Answers {
  readonly #definition: StreamResponseDefinition;
  readonly #context: HandlerContext;
  #unanswered: BidiStreamRequest[] = [];
  #answered = 0;

  constructor(definition: StreamResponseDefinition, context: HandlerContext) {
    this.#definition = definition;
    this.#context = context;
    setMetadata(definition, context);
  }

  get isDone(): boolean {
    return this.#answered === this.#definition.responseData.length;
  }

  receive(request: BidiStreamRequest): void {
    this.#unanswered.push(request);
  }

  async next(): Promise<Response> {
    await waitDelay(this.#definition, this.#context);
    const data = this.#definition.responseData[this.#answered] ?? new Uint8Array();
    const requests = this.#unanswered;
    const isFirst = this.#answered === 0;
    this.#unanswered = [];
    this.#answered += 1;
    if (isFirst) {
      return { payload: { data, requestInfo: describeRequests(requests, this.#context) } };
    }
    if (requests.length > 0) {
      return { payload: { data, requestInfo: { requests: packRequests(requests, this.#context) } } };
    }
    return { payload: { data } };
  }

  throwIfFailing(): void {
    const { error } = this.#definition;
    if (error !== undefined) {
      const isFirst = this.#answered === 0;
      throw toError(error, isFirst ? describeRequests(this.#unanswered, this.#context) : undefined);
    }
  }
}
