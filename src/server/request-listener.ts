// Which surface a request belongs to: probes, then the RPC protocols by their exact paths, then REST for everything else.
// Who calls is established here, before any of them.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { type ContextValues, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest, universalResponseToNodeResponse } from "@connectrpc/connect-node";
import type { Events } from "../telemetry/events.ts";
import { setCaller, sharedCaller } from "../trust/caller.ts";
import { answerProbe, type Probes } from "./probes.ts";

export type Request = IncomingMessage | Http2ServerRequest;
export type Response = ServerResponse | Http2ServerResponse;

export interface Surfaces {
  readonly handlers: readonly UniversalHandler[];
  /** Answers whatever is no RPC. */
  readonly answerRest: (request: Request, response: Response, contextValues: ContextValues) => Promise<void>;
  readonly probes: Probes;
  readonly events: Events;
}

export function createRequestListener(surfaces: Surfaces): (request: Request, response: Response) => void {
  const { handlers, answerRest, probes, events } = surfaces;
  const rpcs = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  return (request, response) => {
    if (answerProbe(probes, request, response)) {
      return;
    }
    const contextValues = contextOf(request);
    const rpc = rpcs.get(request.url?.split("?", 1)[0] ?? "");
    const answered =
      rpc === undefined
        ? answerRest(request, response, contextValues)
        : answerRpc(rpc, request, response, contextValues);
    answered.catch((error: unknown) => {
      // A client that leaves in the middle of an answer is nothing to report.
      if (!response.destroyed) {
        events.requestFailed({ method: request.url ?? "", error });
      }
    });
  };
}

async function answerRpc(
  rpc: UniversalHandler,
  request: Request,
  response: Response,
  contextValues: ContextValues,
): Promise<void> {
  const answer = await rpc(universalRequestFromNodeRequest(request, response, undefined, contextValues));
  await universalResponseToNodeResponse(withLegibleMessage(answer), response);
}

/**
 * Error texts go out as gRPC escapes them: connect escapes punctuation too, and grpc-js would show `%3A` for a colon. The
 * trailer is filled while the body is sent, so it is looked at only when it is asked for.
 */
function withLegibleMessage(answer: UniversalServerResponse): UniversalServerResponse {
  const { trailer } = answer;
  if (trailer === undefined) {
    return answer;
  }
  return {
    ...answer,
    get trailer() {
      const message = trailer.get("grpc-message");
      if (message === null) {
        return trailer;
      }
      const legible = new Headers(trailer);
      legible.set("grpc-message", encodeURI(decodeURIComponent(message)));
      return legible;
    },
  };
}

/** There is no authentication yet: whoever reaches the port is who they say they are, or `local`. */
function contextOf(request: Request): ContextValues {
  const values = createContextValues();
  const claimed = request.headers["x-client-id"];
  setCaller(values, sharedCaller(typeof claimed === "string" && claimed !== "" ? claimed : "local"));
  return values;
}
