// The probes of load balancers and operators: plain HTTP without credentials.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** The state that the probes report. */
export interface Probes {
  /** Returns null while this replica serves, otherwise the reason why it does not. */
  readonly whyNotReady: () => string | null;
  readonly countSessions: () => Promise<{ active: number; total: number }>;
}

type Answer = { readonly status: number; readonly body: object };

/** Answers a probe. Returns false when the path is not that of a probe. */
export function answerProbe(
  probes: Probes,
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): boolean {
  const probe = table.get(request.url?.split("?")[0] ?? "");
  if (probe === undefined) {
    return false;
  }
  if (request.method !== "GET") {
    response.statusCode = 405;
    response.setHeader("allow", "GET");
    response.end();
    return true;
  }
  void probe(probes)
    .catch((): Answer => ({ status: 503, body: { status: "unavailable", reason: "the database is not reachable" } }))
    .then(({ status, body }) => {
      const text = `${JSON.stringify(body)}\n`;
      response.statusCode = status;
      response.setHeader("content-type", "application/json");
      response.setHeader("content-length", Buffer.byteLength(text));
      response.end(text);
    });
  return true;
}

const table = new Map<string, (probes: Probes) => Promise<Answer>>([
  ["/livez", async () => ({ status: 200, body: { status: "ok" } })],
  [
    "/readyz",
    async ({ whyNotReady }) => {
      const reason = whyNotReady();
      return reason === null
        ? { status: 200, body: { status: "ok" } }
        : { status: 503, body: { status: "unavailable", reason } };
    },
  ],
  [
    "/health",
    async ({ countSessions }) => {
      const { active, total } = await countSessions();
      return { status: 200, body: { active_sessions: active, status: "ok", total_sessions: total } };
    },
  ],
]);
