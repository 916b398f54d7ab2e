// The network of a client library for one server: `fetch` over the guarded egress.
//
// G1  Only the origin of the server's URL is called, so the secrets in its headers reach no other host.
// G2  No redirect is followed.
// G3  Each answer is bounded. One that is longer breaks the connection with the server.

import { version } from "../base/version.ts";
import { EgressFailure, refuse } from "./failure.ts";
import type { Egress } from "./post.ts";
import type { Called } from "./url.ts";

/** What the calls to one server need. */
export interface FetchOptions {
  readonly what: Called;
  readonly url: string;
  /** Names in lower case. They go with every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly egress: Pick<Egress, "open">;
  /** The timeout until the head of an answer. */
  readonly headTimeoutMs: () => number;
  readonly answerBytesMax: number;
  /** Called with the reason when an answer is too long. */
  readonly onBroken: (failure: Error) => void;
}

/** What client libraries call. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Returns the function. */
export function createGuardedFetch(options: FetchOptions): Fetch {
  const { egress, headTimeoutMs, what } = options;
  const { origin } = new URL(options.url);
  return async (to, { method = "GET", headers, body, signal } = {}) => {
    const url = URL.parse(String(to));
    if (url?.origin !== origin) {
      throw refuse("the server leads to another origin");
    }
    const given = new Headers(headers);
    const answer = await egress.open({
      url: url.href,
      what,
      method: method as "GET" | "POST" | "DELETE",
      headers: { "user-agent": `Runnel/${version}`, ...options.headers, ...Object.fromEntries(given) },
      body: typeof body === "string" ? body : undefined,
      timeoutMs: headTimeoutMs(),
      signal: signal ?? new AbortController().signal,
    });
    if (answer.status >= 300 && answer.status < 400) {
      await drop(answer.body);
      throw refuse(`the server answered ${answer.status}: redirects are not followed`);
    }
    const isEmpty = answer.status === 204 || answer.status === 205;
    const answered = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined || name === "set-cookie" ? [] : [[name, String(value)]],
    );
    return new Response(isEmpty ? null : streamOf(answer.body, options), {
      status: Math.max(answer.status, 200),
      headers: answered,
    });
  };
}

async function drop(body: AsyncIterable<Uint8Array>): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

function streamOf(
  body: AsyncIterable<Uint8Array>,
  { answerBytesMax, onBroken }: FetchOptions,
): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await pieces.next();
      if (done === true) {
        return controller.close();
      }
      bytes += value.byteLength;
      if (bytes > answerBytesMax) {
        const failure = new EgressFailure(`the server's answer is longer than ${answerBytesMax} bytes`, {
          isRetryable: false,
        });
        await pieces.return?.();
        onBroken(failure);
        throw failure;
      }
      controller.enqueue(value);
    },
    cancel: async () => void (await pieces.return?.()),
  });
}
