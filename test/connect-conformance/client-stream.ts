// ClientStream: all requests are read, then the first of them decides the answer.

import type { HandlerContext } from "@connectrpc/connect";
import type { ClientStreamRequest } from "./gen/connectrpc/conformance/v1/service_pb.js";
import { describeRequests } from "./request-info.ts";
import { type Answer, answerOnce } from "./unary.ts";

export async function answerClientStream(
  requests: AsyncIterable<ClientStreamRequest>,
  context: HandlerContext,
): Promise<Answer> {
  const received = await Array.fromAsync(requests);
  return await answerOnce(received[0]?.responseDefinition, describeRequests(received, context), context);
}
