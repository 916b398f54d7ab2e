// Answers a REST call of a unary method with JSON, text or a raw body.

import type { DescMethod, Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { Fault } from "../../platform/base/fault.ts";
import { printField, printMessage, styleJson } from "../../platform/base/json/print.ts";
import type { RestCallNotes } from "../../platform/base/rest-call.ts";
import { type CallOptions, callUnary } from "../in-process/call.ts";
import { prefersJson } from "./accept.ts";
import { type HttpBodyPlace, readHttpBody } from "./http-body.ts";
import { type RestResponse, sendBody, sendJson, sendText } from "./respond.ts";
import type { Target } from "./target.ts";

/**
 * Answers a unary call. Rejects with the failure of the call; nothing has been sent then. The handler reads and writes `notes`.
 */
export async function answerUnary(
  target: Target,
  message: Message,
  response: RestResponse,
  options: CallOptions & { readonly notes: RestCallNotes },
): Promise<void> {
  const { method, handler, responseBytes, textResponse } = target;
  const output = await callUnary(handler, message, options);
  const httpStatus = chooseStatus(target, options.notes);
  if (textResponse !== undefined) {
    // Appended: other parts of the server also set `vary`.
    response.appendHeader("vary", "accept");
  }
  if (textResponse !== undefined && !prefersJson(options.headers.accept)) {
    const text = reflect(method.output, output, false).get(textResponse) as string;
    sendText(response, httpStatus, text);
  } else if (responseBytes === undefined) {
    sendJson(response, httpStatus, printOutput(target, output));
  } else {
    sendBytes(response, httpStatus, { method, output, place: responseBytes });
  }
}

/**
 * Returns the HTTP status of a success. Throws Fault INTERNAL for a status that the contract does not declare, since no caller
 * expects it.
 */
function chooseStatus({ method, successStatuses }: Target, { successStatus }: RestCallNotes): number {
  const httpStatus = successStatus ?? successStatuses.usual;
  if (!successStatuses.allowed.has(httpStatus)) {
    const cause = new Error(`${method.parent.typeName}.${method.name} chose the undeclared status ${httpStatus}`);
    throw new Fault("INTERNAL", "internal error", { cause });
  }
  return httpStatus;
}

function printOutput({ method, responseField, profile }: Target, output: Message): string {
  const json =
    responseField === undefined
      ? printMessage(method.output, output)
      : printField(method.output, output, responseField);
  return styleJson(json, profile);
}

function sendBytes(
  response: RestResponse,
  httpStatus: number,
  { method, output, place }: { method: DescMethod; output: Message; place: HttpBodyPlace },
): void {
  const { contentType, data } = readHttpBody(method.output, output, place);
  sendBody(response, httpStatus, data, { "content-type": contentType });
}
