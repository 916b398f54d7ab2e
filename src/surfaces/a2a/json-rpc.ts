// A2A over JSON-RPC: one URL, a method by its name in the service, params and results in ProtoJSON.

import type { Message } from "@bufbuild/protobuf";
import { A2AService } from "#gen/lf/a2a/v1/a2a_pb.js";
import { invalidRequest, methodNotFound, parseMessage, RpcError, type RpcId } from "../in-process/json-rpc.ts";
import { endStream, isGone, sendBody } from "../rest/respond.ts";
import { refusalOf, rpcErrorOf } from "./errors.ts";
import { findHandler } from "./handlers.ts";
import { jsonOf, readBody, readMessage, sendEvents, sendSlowly, type Visit, WrongMediaType } from "./request.ts";

const methods = new Map(A2AService.methods.map((method) => [method.name, method]));

/** Answers a request. */
export async function answerRpc(visit: Visit): Promise<void> {
  const message = parseMessage(readBody(visit));
  if (message.kind !== "request") {
    throw new RpcError(invalidRequest, "a request has an id: send one");
  }
  const { id, params } = message;
  const method = methods.get(message.method);
  if (method === undefined) {
    throw new RpcError(methodNotFound, `there is no method ${JSON.stringify(message.method)}`);
  }
  const handler = findHandler(method);
  const request = readMessage(method.input, params);
  const print = (result: Message): string =>
    JSON.stringify({ jsonrpc: "2.0", id, result: jsonOf(method.output, result) });
  if (handler.isStream) {
    const error = (failure: unknown): string => `data: ${printRpcError(id, failure)}\n\n`;
    await sendEvents(visit, handler.call(visit.call, request), { event: print, error });
  } else {
    await sendSlowly(visit, "application/json", async () => print(await handler.call(visit.call, request)));
  }
}

/** Sends the error of a request. Those of credentials, limits and sizes keep their HTTP status; all others have 200. */
export function sendRpcError({ response }: Pick<Visit, "response">, id: RpcId | null, error: unknown): void {
  const { httpStatus, headers, info } = refusalOf(error);
  const isOfHttp =
    info?.domain !== "a2a-protocol.org" && (httpStatus > 404 || httpStatus === 401 || httpStatus === 403);
  const json = printRpcError(id, error);
  if (response.headersSent) {
    endStream(response, json);
  } else if (!isGone(response)) {
    const status = error instanceof WrongMediaType ? 415 : isOfHttp ? httpStatus : 200;
    sendBody(response, status, json, { ...headers, "content-type": "application/json" });
  }
}

function printRpcError(id: RpcId | null, error: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: rpcErrorOf(refusalOf(error)) });
}
