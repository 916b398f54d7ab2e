// The network of an MCP server: `fetch` over the guarded egress.
//
// G1  Only the origin of the server's URL is called, so the secrets in its headers reach no other host.
// G2  No redirect is followed.
// G3  Each answer is bounded. One that is longer breaks the connection with the server.

import { version } from "../../../platform/base/version.ts";
import type { HttpAddress } from "../../../platform/config/mcp-servers.ts";
import { EgressFailure, refuse } from "../../../platform/egress/failure.ts";
import type { Egress } from "../../../platform/egress/post.ts";

/** What the calls to one server need. */
export interface FetchOptions {
  readonly address: HttpAddress;
  readonly egress: Pick<Egress, "open">;
  /** The timeout until the head of an answer. */
  readonly headTimeoutMs: () => number;
  readonly answerBytesMax: number;
  /** Called with the reason when an answer is too long. */
  readonly onBroken: (failure: Error) => void;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Returns the function. */
export function createGuardedFetch(options: FetchOptions): Fetch {
  const { address, egress, headTimeoutMs } = options;
  const { origin } = new URL(address.url);
  return async (to, { method = "GET", headers, body, signal } = {}) => {
    const url = new URL(to);
    if (url.origin !== origin) {
      throw refuse("the server leads to another origin");
    }
    const given = new Headers(headers);
    // The stream on which an HTTP server may talk of its own accord: nothing that it could say there is used.
    if (address.kind === "http" && method === "GET" && !given.has("last-event-id")) {
      return new Response(null, { status: 405 });
    }
    const answer = await egress.open({
      url: url.href,
      what: "mcp server",
      method: method as "GET" | "POST" | "DELETE",
      headers: { "user-agent": `Runnel/${version}`, ...address.headers, ...Object.fromEntries(given) },
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
