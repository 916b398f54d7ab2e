// Tools of clients, called at the client's own host over signed HTTP (Agent Runner document, "Remote Tools").
//
// R1  Every attempt has a new signature with its own nonce. All attempts of one call have the same idempotency key.
// R2  A call is retried after 5xx, network errors and timeouts, and after a crash. Every other answer ends the call.
// R3  Arguments that violate the tool's schema never leave the service. The host checks a schema that we cannot check.

import type { Clock } from "../../platform/base/clock.ts";
import { EgressFailure } from "../../platform/egress/failure.ts";
import type { Egress } from "../../platform/egress/post.ts";
import { printArguments } from "./print-arguments.ts";
import { type Again, answerBytesMax, readAnswer } from "./remote-answer.ts";
import type { ArgumentsSchema } from "./schema.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";

/** A client's tool and its host. */
export interface RemoteToolOptions {
  readonly name: string;
  readonly description: string;
  readonly schema: ArgumentsSchema;
  readonly host: RemoteHost;
}

/** The host of a session's tools, and how to call it. */
export interface RemoteHost {
  readonly baseUrl: string;
  /** The timeout of one attempt. */
  readonly timeoutMs: number;
  /** The session's public id. */
  readonly sessionId: string;
  /** Returns the headers that prove the caller to the host, new for each attempt. */
  readonly sign: (body: string) => Readonly<Record<string, string>>;
  readonly egress: Pick<Egress, "post">;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** Creates the tool. */
export function createRemoteTool({ name, description, schema, host }: RemoteToolOptions): Tool {
  return {
    name,
    description,
    parameters: schema.parameters,
    // The host recognises a repeated call by its idempotency key, which it also needs after a lost answer.
    afterCrash: "again",
    run: async (args, context) => {
      const printed = printArguments(args, context.call?.written);
      if ("problem" in printed) {
        return { error: `invalid arguments: ${printed.problem}` };
      }
      const problem = schema.findProblem(args);
      if (problem !== undefined) {
        return { error: problem };
      }
      const [sessionId, toolName] = [host.sessionId, name].map((text) => JSON.stringify(text));
      const body = `{"arguments":${printed.json},"session_id":${sessionId},"tool_name":${toolName}}`;
      return await callWithRetries(host, { url: toolUrl(host.baseUrl, name), body }, context);
    },
  };
}

function toolUrl(baseUrl: string, name: string): string {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/(?<!\/)\/*$/, `/tools/${name}`);
  return url.href;
}

/** The delays of the Agent Runner document: 1 s, 2 s and 4 s, each ±20 %. */
const retryDelaysMs = [1_000, 2_000, 4_000];
const jitter = 0.2;

interface RemoteCall {
  readonly url: string;
  readonly body: string;
}

async function callWithRetries(host: RemoteHost, call: RemoteCall, context: ToolContext): Promise<ToolOutcome> {
  let outcome = await callOnce(host, call, context);
  for (const delayMs of retryDelaysMs) {
    if (!("again" in outcome)) {
      return outcome;
    }
    await host.clock.sleep(delayMs * (1 + jitter * (2 * host.random() - 1)), context.signal);
    context.signal.throwIfAborted();
    outcome = await callOnce(host, call, context);
  }
  return "again" in outcome
    ? { error: `callback failed after retries: max retries exceeded: ${outcome.again}` }
    : outcome;
}

async function callOnce(
  { egress, sign, sessionId, timeoutMs }: RemoteHost,
  { url, body }: RemoteCall,
  { signal, call }: ToolContext,
): Promise<ToolOutcome | Again> {
  const headers = {
    "content-type": "application/json",
    "x-session-id": sessionId,
    ...sign(body),
    ...(call !== undefined && { "idempotency-key": headerOf(call.id) }),
    ...(call?.traceParent !== undefined && { traceparent: call.traceParent }),
  };
  try {
    return readAnswer(await egress.post({ url, headers, body, timeoutMs, responseBytesMax: answerBytesMax, signal }));
  } catch (error) {
    if (signal.aborted || !(error instanceof EgressFailure)) {
      throw error;
    }
    return error.isRetryable ? { again: error.message } : { error: `callback failed after retries: ${error.message}` };
  }
}

/** Returns a call id as a header value. Providers choose these ids, and a header accepts no other characters. */
function headerOf(id: string): string {
  return /^[\x21-\x7e]{1,256}$/.test(id) ? id : encodeURIComponent(id.toWellFormed()).slice(0, 256);
}
