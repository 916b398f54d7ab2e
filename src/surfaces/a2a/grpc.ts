// A2A over gRPC: the service of the official a2a.proto on the port of the contract's services.

import type { Message } from "@bufbuild/protobuf";
import { ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { A2AService } from "#gen/lf/a2a/v1/a2a_pb.js";
import type { LocalMethods } from "../../platform/base/local-methods.ts";
import { Calls } from "../in-process/calls.ts";
import type { A2aCall, Server } from "./call.ts";
import { isDefect, toConnectError } from "./errors.ts";
import { findHandler } from "./handlers.ts";
import { assertVersion, versionHeader } from "./version.ts";

/** A call over gRPC may wait for a minute. */
const patienceMs = 50_000;

/** Returns the methods of A2AService. `methodsOf` returns the methods of the contract once all are known. */
export function createA2aMethods(server: Server, methodsOf: () => LocalMethods): ServiceImpl<typeof A2AService> {
  const open = (context: HandlerContext): A2aCall => {
    const { requestHeader, signal, values, url } = context;
    assertVersion(requestHeader.get(versionHeader) ?? "");
    const calls = new Calls(methodsOf(), { headers: {}, signal, contextValues: values });
    const idempotencyKey = requestHeader.get("idempotency-key") ?? "";
    return { server, calls, values, address: `${new URL(url).origin}${server.publicPath}`, idempotencyKey, patienceMs };
  };
  const methods = A2AService.methods.map((method) => {
    const handler = findHandler(method);
    if (handler.isStream) {
      const stream = async function* (request: Message, context: HandlerContext): AsyncGenerator<Message> {
        try {
          yield* handler.call(open(context), request);
        } catch (error) {
          throw toGrpcError(error);
        }
      };
      return [method.localName, stream];
    }
    const unary = async (request: Message, context: HandlerContext): Promise<Message> => {
      try {
        return await handler.call(open(context), request);
      } catch (error) {
        throw toGrpcError(error);
      }
    };
    return [method.localName, unary];
  });
  return Object.fromEntries(methods);
}

/** The router reports defects, and knows the errors of the contract's methods. */
function toGrpcError(error: unknown): unknown {
  return isDefect(error) || error instanceof ConnectError ? error : toConnectError(error);
}
