// A proxy between the service and the node that a test can cut, before or after a JSON-RPC method is executed, and that can
// answer for the node.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The fate of a request: it passes, is lost, loses its answer, gets no answer, or gets this one. */
export type Fate = "pass" | "lose" | "lose answer" | "leave" | Answer;

interface Answer {
  readonly status: number;
  /** The JSON-RPC outcome, used when `text` is not set. */
  readonly outcome?: Outcome;
  readonly text?: string;
}

interface Outcome {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export function answer(outcome: Outcome): Answer {
  return { status: 200, outcome };
}

export interface NodeGate extends AsyncDisposable {
  readonly url: string;
  /** The requested methods, in order. */
  readonly asked: readonly string[];
  /** Replaces the decision for all later requests. */
  decide(fate: (method: string) => Fate): void;
}

/** `path` is part of the gate's URL, as in a rented node's URL, which has a key in it. */
export async function openNodeGate(nodeUrl: string, path = "/"): Promise<NodeGate> {
  const asked: string[] = [];
  let decide: (method: string) => Fate = () => "pass";
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    asked.push(method);
    const fate = decide(method);
    if (fate === "leave") {
      return;
    }
    if (typeof fate === "object") {
      const text = fate.text ?? JSON.stringify({ jsonrpc: "2.0", id, ...fate.outcome });
      response.writeHead(fate.status, { "content-type": "application/json" }).end(text);
      return;
    }
    if (fate !== "lose") {
      const headers = { "content-type": "application/json" };
      const far = await fetch(nodeUrl, { method: "POST", headers, body });
      const farText = await far.text();
      if (fate === "pass") {
        response.writeHead(far.status, headers).end(farText);
        return;
      }
    }
    request.socket.destroy();
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    asked,
    decide: (fate) => {
      decide = fate;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
