// One request and its answer for operators: an id in both the answer and the log, and one access-log line at the end.

import type { Admission } from "../../platform/auth/caller.ts";
import type { Clock } from "../../platform/base/clock.ts";
import type { Fault } from "../../platform/base/fault.ts";
import { newRequestId } from "../../platform/base/ids.ts";
import { callCodeName } from "../../platform/telemetry/call-code.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { setAnswerHeaders } from "./answer-headers.ts";
import type { Request, Response } from "./message.ts";
import { addressOf } from "./network.ts";

/** The maximum bytes of a client's request id: enough for common ids, and few enough to log. */
const requestIdBytesMax = 256;

/** One request and its answer. */
export interface Exchange {
  readonly requestId: string;
  /** Records the caller and the RPC (`<service>/<method>`), or why the call was refused. */
  note(admission: Admission, rpc: string): void;
}

/** Starts an exchange: sets `X-Request-Id` and the headers of every answer, and logs the request when its response closes. */
export function openExchange(
  request: Request,
  response: Response,
  { clock, events }: { readonly clock: Clock; readonly events: Events },
): Exchange {
  const startMs = clock.monotonicMs();
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && given !== "" ? cutBytes(given) : newRequestId();
  response.setHeader("X-Request-Id", requestId);
  setAnswerHeaders(response);
  // Read now: a closed socket has no peer address.
  const address = addressOf(request.socket);
  // The log leaves out the query: it may contain secrets.
  const [path = ""] = (request.url ?? "").split("?", 1);
  const noted: { client?: string; reason?: string } = {};
  let calledRpc = "";
  events.requestStarted({});
  response.once("close", () => {
    const status = response.headersSent ? response.statusCode : 0;
    const durationMs = clock.monotonicMs() - startMs;
    events.requestFinished({
      requestId,
      method: request.method ?? "",
      rpc: calledRpc,
      path,
      status,
      address,
      durationMs,
      ...noted,
    });
  });
  return {
    requestId,
    note: (admission, rpc) => {
      calledRpc = rpc;
      if ("fault" in admission) {
        noted.reason = admission.fault.reason;
        countRefusal(events, rpc, admission.fault);
      } else if ("client" in admission.caller) {
        noted.client = admission.caller.client;
      }
    },
  };
}

/** Counts a call refused at admission: it reaches no handler, which would count it. */
function countRefusal(events: Events, rpc: string, { code }: Fault): void {
  const [service = "", method] = rpc.split("/", 2);
  if (method !== undefined) {
    events.callRefused({ service, method, code: callCodeName(code) });
  }
}

function cutBytes(text: string): string {
  // Node reads header values as Latin-1, one byte for each character.
  return text.slice(0, requestIdBytesMax);
}
