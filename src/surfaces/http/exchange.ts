// One request and its answer, as people who run the service see them: an id that is in the answer and in the log, and one
// line in the log when it is over.

import type { Admission } from "../../platform/auth/caller.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { type Fault, reasons } from "../../platform/base/fault.ts";
import { newRequestId } from "../../platform/base/ids.ts";
import { callCodeName } from "../../platform/telemetry/call-code.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { addressOf } from "./network.ts";
import type { Request, Response } from "./rpc.ts";

/** Enough for anybody's ids, and little enough to be logged. */
const requestIdBytesMax = 256;

export interface Exchange {
  readonly requestId: string;
  /** Who called what, `<service>/<method>`, or why they were refused. */
  note(admission: Admission, rpc: string): void;
}

export function openExchange(
  request: Request,
  response: Response,
  { clock, events }: { readonly clock: Clock; readonly events: Events },
): Exchange {
  const startMs = clock.monotonicMs();
  const given = request.headers["x-request-id"];
  const requestId = typeof given === "string" && given !== "" ? cutBytes(given) : newRequestId();
  response.setHeader("X-Request-Id", requestId);
  // A socket that has closed knows its peer no more.
  const address = addressOf(request.socket);
  // The query may hold what nobody should read.
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

/** A call that is refused at the door reaches no handler, which would count it. */
function countRefusal(events: Events, rpc: string, { reason }: Fault): void {
  const [service = "", method] = rpc.split("/", 2);
  if (method !== undefined) {
    events.callRefused({ service, method, code: callCodeName(reasons[reason].code) });
  }
}

function cutBytes(text: string): string {
  // Node reads header values as Latin-1, a byte a character.
  return text.slice(0, requestIdBytesMax);
}
