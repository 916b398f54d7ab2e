// The probes of load balancers and operators: plain HTTP without credentials.

import type { Request, Response } from "./message.ts";

/** The state that the probes report. */
export interface Probes {
  /** Returns null while this replica serves, otherwise the reason why it does not. */
  readonly whyNotReady: () => string | null;
  readonly countSessions: () => Promise<{ active: number; total: number }>;
  /** Whether the caller sees the numbers of sessions. Never rejects. */
  readonly seesCounts: (request: Request) => Promise<boolean>;
}

type Answer = { readonly status: number; readonly body: object };

/** Answers a probe. Returns false when the path is not that of a probe. */
export function answerProbe(probes: Probes, request: Request, response: Response): boolean {
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
  void probe(probes, request)
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

const table = new Map<string, (probes: Probes, request: Request) => Promise<Answer>>([
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
    async ({ countSessions, seesCounts }, request) => {
      // Counts for every caller: the status says whether the database answers.
      const [{ active, total }, isShown] = await Promise.all([countSessions(), seesCounts(request)]);
      const counts = { active_sessions: active, status: "ok", total_sessions: total };
      return { status: 200, body: isShown ? counts : { status: "ok" } };
    },
  ],
]);
