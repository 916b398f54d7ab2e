// Ends the requests over HTTP whose answers will not come. The official client waits for them until their time is over.

import type { JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import { EgressFailure, refuse } from "../../../platform/egress/failure.ts";
import type { Fetch } from "../../../platform/egress/guarded-fetch.ts";

/** Fails a request whose stream ends before its result, and that cannot be resumed. */
export function failAtStreamEnd(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const onRequestStreamEnd = (): void => {
      for (const each of [message].flat()) {
        // The client ignores the answer to a request that it has an answer to.
        transport.onmessage?.(lostAnswerTo(each));
      }
    };
    await send(message, { ...options, onRequestStreamEnd });
  };
}

function lostAnswerTo(message: JSONRPCMessage): JSONRPCMessage {
  const cause = new EgressFailure("the server ended its answer before the result", { isRetryable: true });
  const id = "id" in message ? message.id : undefined;
  return {
    jsonrpc: "2.0",
    ...(id !== undefined && { id }),
    error: { code: 0, message: cause.message, data: { cause } },
  };
}

/** Fails a request that the server accepts as if it were a notification: its answer could come only on a stream that is not opened. */
export function refuseAccepted(guarded: Fetch): Fetch {
  return async (to, init = {}) => {
    const answer = await guarded(to, init);
    if (answer.status === 202 && typeof init.body === "string" && isRequest(init.body)) {
      throw refuse("the server answered 202 to a request, without a result");
    }
    return answer;
  };
}

function isRequest(body: string): boolean {
  const { id, method } = parseObject(body) ?? {};
  return id !== undefined && method !== undefined;
}

/** Calls back when the one stream of an old server has ended. */
export function watchStreamEnd(guarded: Fetch, onEnd: (failure: Error) => void): Fetch {
  return async (to, init = {}) => {
    const answer = await guarded(to, init);
    if ((init.method ?? "GET") !== "GET" || !answer.ok || answer.body === null) {
      return answer;
    }
    const end = (): void => onEnd(new EgressFailure("the server ended its stream of events", { isRetryable: true }));
    const [pieces, { status, headers }] = [answer.body.getReader(), answer];
    const body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await pieces.read().catch((error: unknown) => {
          end();
          throw error;
        });
        if (done) {
          end();
          controller.close();
        } else {
          controller.enqueue(value);
        }
      },
      cancel: (reason) => pieces.cancel(reason),
    });
    return new Response(body, { status, headers });
  };
}
