// The webhook of an n8n workflow, on 127.0.0.1. It answers each call with the next answer that a test queued, in n8n's format:
// a stream is one JSON object a line (`begin`, `item` …, `end`), any other answer is one JSON object with the output of the
// last node.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenLocally } from "../harness/listen.ts";

export interface N8nWebhook {
  readonly url: string;
  /** The bodies of the calls, in order. */
  readonly calls: readonly Readonly<Record<string, unknown>>[];
  /** Queues an answer. Several pieces become a stream, one piece does not. */
  answer(pieces: readonly string[]): void;
}

/** Starts a webhook that is closed with the test. */
export async function startN8nWebhook(): Promise<N8nWebhook> {
  const calls: Record<string, unknown>[] = [];
  const answers: (readonly string[])[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    calls.push(JSON.parse((await request.setEncoding("utf8").toArray()).join("")));
    const pieces = answers.shift() ?? [];
    response.setHeader("content-type", "application/json; charset=utf-8");
    if (pieces.length > 1) {
      await stream(response, pieces);
    } else {
      response.write(JSON.stringify({ response: pieces[0] }));
    }
    response.end();
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}/webhook/tests`,
    calls,
    answer: (pieces) => {
      answers.push(pieces);
    },
  };
}

async function stream(response: ServerResponse, pieces: readonly string[]): Promise<void> {
  const metadata = { nodeId: "a1", nodeName: "AI Agent", itemIndex: 0, runIndex: 0, timestamp: 1_700_000_000_000 };
  const items = pieces.map((content) => ({ type: "item", content, metadata }));
  for (const chunk of [{ type: "begin", metadata }, ...items, { type: "end", metadata }]) {
    await new Promise((resolve) => response.write(`${JSON.stringify(chunk)}\n`, resolve));
  }
}
