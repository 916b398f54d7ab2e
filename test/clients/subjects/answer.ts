// What a subject of `@runnel/client` does with a request: the library's calls, and lines about what they give.

import { fromBinary } from "@bufbuild/protobuf";
import { GetReceiptResponseSchema } from "#gen/runnel/v1/receipt_service_pb.js";
import {
  type Credentials,
  connect,
  type Runnel,
  RunnelError,
  type RunStream,
  verifyCallback,
  verifyReceipt,
} from "../../../clients/typescript/src/index.ts";
import { typeOf } from "../service/log.ts";
import type { SubjectCredentials, SubjectLine, SubjectRequest } from "../subject.ts";

type Print = (line: SubjectLine) => void;

/** How a subject connects. Tests of the kit connect with clients that are wrong on purpose. */
type Connect = (url: string, credentials: Credentials) => Runnel;

/** Makes the call of a request, and prints what it gives. The signal ends it. */
export async function answer(
  request: SubjectRequest,
  print: Print,
  signal: AbortSignal = new AbortController().signal,
  open: Connect = connect,
): Promise<void> {
  try {
    await call(request, print, signal, open);
  } catch (error) {
    const { code, reason, metadata, message, violations } = RunnelError.from(error);
    print({ error: { code, reason, metadata, message, violations } });
  }
}

async function call(request: SubjectRequest, print: Print, signal: AbortSignal, open: Connect): Promise<void> {
  switch (request.call) {
    case "callback": {
      const { secret = "", headers = {}, body = "", now_ms: nowMs } = request;
      await verifyCallback({ secret, headers, body: decode(body), ...(nowMs !== undefined && { nowMs }) });
      print({ valid: true });
      return;
    }
    case "receipt": {
      const { receipt = "", results = [], public_key: publicKey = "" } = request;
      await verifyReceipt({
        receipt: fromBinary(GetReceiptResponseSchema, decode(receipt)),
        results: results.map(decode),
        publicKey: decode(publicKey),
      });
      print({ valid: true });
      return;
    }
    default:
      await callService(request, print, signal, open);
  }
}

async function callService(request: SubjectRequest, print: Print, ending: AbortSignal, open: Connect): Promise<void> {
  const { url, credentials, session_id: sessionId = "", message = "", run_id: runId = "", after = 0 } = request;
  const { timeout_ms: timeoutMs, idle_timeout_ms: idleTimeoutMs, request_id: requestId } = request;
  const runnel = open(url, readCredentials(credentials));
  const cancel = new AbortController();
  const limits = { signal: AbortSignal.any([cancel.signal, ending]), timeoutMs };
  try {
    if (request.call === "send") {
      const sent = await runnel.send(sessionId, message, { ...limits, ...(requestId && { requestId }) });
      print({ run: { run_id: sent.runId } });
    } else if (request.call === "ask") {
      const parameters = { type: "object", properties: { a: { type: "integer" }, b: { type: "integer" } } };
      const add = { name: "add", parameters, run: ({ a, b }: { a: number; b: number }) => a + b };
      await show(runnel.ask(sessionId, message, [add], { ...limits, idleTimeoutMs }), request, print, cancel);
    } else {
      await show(runnel.follow(runId, after, { ...limits, idleTimeoutMs }), request, print, cancel);
    }
  } finally {
    runnel.close();
  }
}

async function show(
  stream: RunStream,
  { cancel_after: cancelAfter }: SubjectRequest,
  print: Print,
  cancel: AbortController,
): Promise<void> {
  let count = 0;
  for await (const result of stream) {
    print({ result: { sequence: Number(result.sequence), type: typeOf(result) } });
    count += 1;
    if (count === cancelAfter) {
      cancel.abort();
    }
  }
  const { state, text, output } = await stream.finish();
  print({ end: { state, text, output } });
}

function readCredentials(given: SubjectCredentials): Credentials {
  const { api_key: apiKey, ticket, client_id: clientId, secret } = given;
  if (clientId !== undefined && secret !== undefined) {
    return { clientId, secret };
  }
  return ticket === undefined ? { apiKey } : { ticket };
}

function decode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, "base64"));
}
