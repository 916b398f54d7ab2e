// The host of a caller, with its tools: node:http on 127.0.0.1. It accepts what the PHP client library accepts: a correct MAC
// over the body as received, a timestamp of digits at most 120 s away, and a nonce that it has not seen for 240 s.

import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface CallbackHost extends AsyncDisposable {
  /** Has a path, as callers have it. */
  readonly baseUrl: string;
  /** The accepted tool calls, in order. */
  readonly calls: readonly CallbackCall[];
  /** All status callbacks about sessions. */
  readonly told: readonly CallbackCall[];
  /** The reasons of refused calls. */
  readonly refusals: readonly string[];
  /** Queues one answer for each of the next calls. The last one answers all later calls. */
  answer(...answers: readonly CallbackAnswer[]): void;
  /** Resolves once this many calls were accepted. */
  called(count: number): Promise<void>;
}

export interface CallbackCall {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An object is sent as JSON with 200. */
export type CallbackAnswer = object | ((response: ServerResponse, call: CallbackCall) => unknown);

/** `nowMs` is the host's own clock. */
export async function startCallbackHost(options: {
  readonly secret: string;
  readonly nowMs?: () => number;
}): Promise<CallbackHost> {
  const { nowMs = Date.now } = options;
  const calls: CallbackCall[] = [];
  const told: CallbackCall[] = [];
  const refusals: string[] = [];
  const answers: CallbackAnswer[] = [];
  const waiters: { count: number; resolve: () => void }[] = [];
  const nonces = new Map<string, number>();
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.setEncoding("utf8").toArray()).join("");
    const call = { path: `${request.method} ${request.url}`, headers: request.headers, body };
    const refusal = findRefusal(call, options.secret, nonces, nowMs());
    if (refusal !== undefined) {
      refusals.push(refusal);
      sendJson(response, 401, { success: false, error: refusal });
      return;
    }
    if (statusPath.test(call.path)) {
      told.push(call);
      sendJson(response, 200, { ok: true });
      return;
    }
    calls.push(call);
    for (const waiter of waiters) {
      if (calls.length >= waiter.count) {
        waiter.resolve();
      }
    }
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { success: true, content: "ok" };
    if (typeof answer === "function") {
      await (answer as (response: ServerResponse, call: CallbackCall) => unknown)(response, call);
    } else {
      sendJson(response, 200, answer);
    }
  }

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/agent-runner`,
    calls,
    told,
    refusals,
    answer: (...more) => {
      answers.splice(0, answers.length, ...more);
    },
    called: (count) =>
      calls.length >= count ? Promise.resolve() : new Promise((resolve) => waiters.push({ count, resolve })),
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

const statusPath = /\/sessions\/[^/]+\/status$/;

export function status(code: number, body = "", headers: Readonly<Record<string, string>> = {}): CallbackAnswer {
  return (response: ServerResponse) => response.writeHead(code, headers).end(body);
}

/** Sends exactly these bytes and then closes the connection. */
export function cut(bytes: string): CallbackAnswer {
  return (response: ServerResponse) => response.socket?.end(bytes);
}

function sendJson(response: ServerResponse, code: number, value: object): void {
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function findRefusal(
  { headers, body }: CallbackCall,
  secret: string,
  nonces: Map<string, number>,
  nowMs: number,
): string | undefined {
  const [signature, timestamp, nonce] = ["x-signature", "x-timestamp", "x-nonce"].map((name) => String(headers[name]));
  if (!/^[A-Za-z0-9_-]{8,128}$/.test(nonce ?? "")) {
    return "bad nonce";
  }
  if (!/^\d+$/.test(timestamp ?? "") || Math.abs(Math.floor(nowMs / 1_000) - Number(timestamp)) > 120) {
    return "bad timestamp";
  }
  const mac = `sha256=${createHmac("sha256", secret).update(`${timestamp}.${nonce}.${body}`).digest("hex")}`;
  if (signature?.length !== mac.length || !timingSafeEqual(Buffer.from(signature), Buffer.from(mac))) {
    return "bad signature";
  }
  if ((nonces.get(String(nonce)) ?? 0) > nowMs) {
    return "nonce seen before";
  }
  nonces.set(String(nonce), nowMs + 240_000);
  return undefined;
}
