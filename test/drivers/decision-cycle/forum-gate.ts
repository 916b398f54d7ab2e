// A proxy between an agent and its forum that loses the requests and answers that a test selects.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenLocally } from "../../harness/listen.ts";

/** The fate of one request: it passes, it or its answer is lost, or the proxy answers it. */
export type Fate = "pass" | "lose-request" | "lose-answer" | { readonly status: number; readonly body: string };

export interface ForumGate {
  readonly url: string;
  /** Method and path of each request, in order. */
  readonly seen: readonly string[];
  /** Sets the function that decides the fate of each request. */
  decide(fateOf: (request: string) => Fate): void;
}

export async function openForumGate(forumUrl: string): Promise<ForumGate> {
  const seen: string[] = [];
  let fateOf: (request: string) => Fate = () => "pass";
  const server = createServer((incoming, outgoing) => {
    const request = `${incoming.method} ${incoming.url}`;
    seen.push(request);
    handle(fateOf(request), forumUrl, incoming, outgoing).catch(() => outgoing.destroy());
  });
  const port = await listenLocally(server);
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    decide: (decide) => {
      fateOf = decide;
    },
  };
}

async function handle(
  fate: Fate,
  forumUrl: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  if (typeof fate === "object") {
    outgoing.writeHead(fate.status, { "content-type": "application/json" }).end(fate.body);
    return;
  }
  if (fate === "lose-request") {
    outgoing.destroy();
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of incoming) {
    pieces.push(piece);
  }
  const { host: _host, connection: _connection, ...headers } = incoming.headers;
  const hasBody = incoming.method !== "GET" && pieces.length > 0;
  const answer = await fetch(forumUrl + incoming.url, {
    method: incoming.method ?? "GET",
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      typeof value === "string" && name !== "content-length" && name !== "transfer-encoding" ? [[name, value]] : [],
    ),
    ...(hasBody && { body: Buffer.concat(pieces) }),
  });
  const body = await answer.text();
  if (fate === "lose-answer") {
    outgoing.destroy();
    return;
  }
  outgoing.writeHead(answer.status, { "content-type": "application/json" }).end(body);
}
