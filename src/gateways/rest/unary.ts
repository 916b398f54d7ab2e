// Answers a REST call of a unary method.

import { type DescField, type DescMethod, fromBinary, getOption } from "@bufbuild/protobuf";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { success_status } from "#gen/runnel/options/v1/options_pb.js";
import { type CallOptions, callUnary } from "./call.ts";
import { printField, printMessage } from "./json-print.ts";
import { type RestResponse, sendJson } from "./respond.ts";

export interface UnaryTarget {
  readonly method: DescMethod;
  readonly handler: UniversalHandler;
  readonly responseField: DescField | undefined;
}

/** Rejects with the call's failure; nothing has been sent then. */
export async function answerUnary(
  { method, handler, responseField }: UnaryTarget,
  message: Uint8Array,
  response: RestResponse,
  options: CallOptions,
): Promise<void> {
  const answer = await callUnary(handler, message, options);
  const output = fromBinary(method.output, answer.message);
  const json =
    responseField === undefined
      ? printMessage(method.output, output)
      : printField(method.output, output, responseField);
  sendJson(response, getOption(method, success_status) || 200, json, answer.headers);
}
