// A server of 2026-07-28 by hand: it answers the opening and its list, and the other requests as a test says.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type FakeMcpServer, openHttpServer } from "../fakes/mcp-server.ts";

/** Answers a request with a result, or with an error when it has a code. */
export type AnswerByHand = (params: Readonly<Record<string, unknown>>) => object | Promise<object>;

/** What servers say of each list. */
const fresh = { resultType: "complete", ttlMs: 0, cacheScope: "private" };

/** Opens the server, which is closed with the test. Its tools take any arguments. `refuse` may return the status of a refusal. */
export async function openModernByHand(
  tools: readonly string[],
  answers: Readonly<Record<string, AnswerByHand>>,
  list: object = {},
  refuse: (request: IncomingMessage) => number | undefined = () => undefined,
): Promise<FakeMcpServer> {
  const known: Readonly<Record<string, AnswerByHand>> = {
    "server/discover": () => ({
      ...fresh,
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      serverInfo: { name: "by hand", version: "1" },
    }),
    "tools/list": () => ({
      ...fresh,
      tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })),
      ...list,
    }),
    ...answers,
  };
  return await openHttpServer(async (request, response, text) => {
    const status = refuse(request);
    if (status !== undefined) {
      response.writeHead(status).end();
      return;
    }
    const { id, method, params = {} } = JSON.parse(text || "{}");
    const answer = await known[method]?.(params);
    const isError = answer !== undefined && "code" in answer;
    sendJson(response, { jsonrpc: "2.0", id, ...(isError ? { error: answer } : { result: answer ?? {} }) });
  });
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
