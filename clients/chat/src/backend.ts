// The calls of the embedding site. Its server has the key of the service: it starts runs, makes tickets and cancels.

import { ChatError, isTransientStatus, readRetryAfterMs } from "./error.ts";

/** What the widget sends to the site. `conversation` is the attribute of the element. */
export type ChatRequest =
  /** Starts a run. The answer is `{"run_id": …, "ticket": …}`. The same `request_id` is the same message: it starts one run. */
  | {
      readonly type: "message";
      readonly conversation: string;
      readonly message: string;
      readonly request_id: string;
    }
  /** Asks for another ticket of a run. The answer is `{"ticket": …}`. */
  | { readonly type: "ticket"; readonly conversation: string; readonly run_id: string }
  /** Cancels a run. Any JSON object is an answer. */
  | { readonly type: "cancel"; readonly conversation: string; readonly run_id: string };

/** The URL of the site that takes a `ChatRequest` by POST, or a function that does the same as a `fetch` of that URL. */
export type Backend = string | ((request: ChatRequest, signal: AbortSignal) => Promise<Response>);

/** A refusal of the site may say why, for the visitor: `{"error": "…"}`. It is shown as it is, so it has a limit. */
const refusalMaxChars = 500;

/** Resolves with the answer of the site. Throws a ChatError for a refusal, and whatever `fetch` throws. */
export async function callBackend(
  backend: Backend,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await (typeof backend === "string" ? post(backend, request, signal) : backend(request, signal));
  const body: unknown = await response.json().catch(() => undefined);
  const answer = (typeof body === "object" && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  if (response.ok) {
    return answer;
  }
  const { error } = answer;
  throw new ChatError(`the site answered with the status ${response.status}`, {
    isTransient: isTransientStatus(response.status),
    retryAfterMs: readRetryAfterMs(response),
    forVisitor: typeof error === "string" ? error.slice(0, refusalMaxChars) : undefined,
  });
}

/** Returns a member of the site's answer that has to be a text. Throws a ChatError. */
export function readText(answer: Readonly<Record<string, unknown>>, name: "run_id" | "ticket"): string {
  const value = answer[name];
  if (typeof value !== "string" || value === "") {
    throw new ChatError(`the answer of the site has no text in ${name}`);
  }
  return value;
}

async function post(url: string, request: ChatRequest, signal: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return await fetch(url, { method: "POST", headers, body: JSON.stringify(request), signal });
}
