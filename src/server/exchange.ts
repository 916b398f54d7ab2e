// One request and its answer, as people who run the service see them: an id that is in the answer and in the log, and one
// line in the log when it is over.

import type { Clock } from "../base/clock.ts";
import { newRequestId } from "../base/ids.ts";
import type { Events } from "../telemetry/events.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Admission } from "../trust/caller.ts";
import { addressOf } from "./network.ts";
import type { Request, Response } from "./rpc.ts";

/** Enough for anybody's ids, and little enough to be logged. */
const requestIdBytesMax = 256;

export interface Exchange {
  readonly requestId: string;
  /** Who called what, or why they were refused. */
  note(admission: Admission, rpc: string): void;
}

export function openExchange(
  request: Request,
  response: Response,
  { clock, events, metrics }: { readonly clock: Clock; readonly events: Events; readonly metrics: Metrics },
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
  metrics.requestStarted();
  response.once("close", () => {
    const status = response.headersSent ? response.statusCode : 0;
    const durationMs = clock.monotonicMs() - startMs;
    metrics.requestFinished({ rpc: calledRpc, status, durationMs, reason: noted.reason });
    events.requestFinished({
      requestId,
      method: request.method ?? "",
      path,
      status,
      address,
      durationMs: Math.round(durationMs),
      ...noted,
    });
  });
  return {
    requestId,
    note: (admission, rpc) => {
      calledRpc = rpc;
      if ("fault" in admission) {
        noted.reason = admission.fault.reason;
      } else if ("client" in admission.caller) {
        noted.client = admission.caller.client;
      }
    },
  };
}

function cutBytes(text: string): string {
  // Node reads header values as Latin-1, a byte a character.
  return text.slice(0, requestIdBytesMax);
}
