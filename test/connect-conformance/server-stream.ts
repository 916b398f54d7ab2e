// ServerStream: one request, and the answers that it asks for; as a handler, and as a feed of the same answers with a handler
// behind it.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { MessageItem } from "../../src/api/feeds.ts";
import type { Feed } from "../../src/platform/base/feed.ts";
import { setMetadata, toError, waitDelay } from "./definition.ts";
import {
  ConformanceService,
  type ServerStreamRequest,
  ServerStreamResponseSchema,
} from "./gen/connectrpc/conformance/v1/service_pb.js";
import { describeRequests } from "./request-info.ts";

type Response = MessageInitShape<typeof ServerStreamResponseSchema>;

export async function* answerServerStream(
  request: ServerStreamRequest,
  context: HandlerContext,
): AsyncGenerator<Response, void> {
  const { responseDefinition: definition } = request;
  if (definition === undefined) {
    return;
  }
  setMetadata(definition, context);
  const requestInfo = describeRequests([request], context);
  for (const [index, data] of definition.responseData.entries()) {
    await waitDelay(definition, context);
    yield { payload: { data, ...(index === 0 && { requestInfo }) } };
  }
  if (definition.error !== undefined) {
    throw toError(definition.error, definition.responseData.length === 0 ? requestInfo : undefined);
  }
}

/**
 * The handler behind the feed. A request that the feed should have answered itself is an error, so that no case passes without
 * it.
 */
export function answerBehindFeed(
  request: ServerStreamRequest,
  context: HandlerContext,
): AsyncGenerator<Response, void> {
  const isCompressed = encodingHeaders.some((name) => (context.requestHeader.get(name) ?? "identity") !== "identity");
  if (!isCompressed) {
    throw new ConnectError("the feed left a plain request to the handler", Code.Internal);
  }
  return answerServerStream(request, context);
}

const encodingHeaders = ["grpc-encoding", "connect-content-encoding"];

export const serverStreamFeed: Feed = {
  method: ConformanceService.method.serverStream,
  isMergeable: false,
  admits: () => true,
  open: async function* (request, context) {
    for await (const response of answerServerStream(request as ServerStreamRequest, context)) {
      yield [new MessageItem(ServerStreamResponseSchema, create(ServerStreamResponseSchema, response))];
    }
  },
};
