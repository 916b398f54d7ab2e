// An MCP server on 127.0.0.1: the official server package behind node:http, in the era that a test wants. Records every request.

import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import {
  createMcpHandler,
  legacyStatelessFallback,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

export interface FakeMcpServer {
  readonly url: string;
  readonly requests: readonly RecordedMcpRequest[];
  /** The calls of tools, in order. */
  readonly calls: () => readonly RecordedMcpRequest[];
}

export interface RecordedMcpRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The JSON-RPC method; empty for a request without a body. */
  readonly rpc: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Resolves when the response ended or was broken off: true when the client closed it first. */
  readonly broken: Promise<boolean>;
}

export type Describe = (server: McpServer) => void;

/** A server of the newest revision, of an older one without sessions, or with them. */
export type Era = "modern" | "legacy" | "sessions";

/** Opens a server that is closed with the test. `describe` registers the tools of each connection. */
export async function openMcpServer(describe: Describe, era: Era = "modern"): Promise<FakeMcpServer> {
  const factory = (): McpServer => {
    const server = new McpServer({ name: "fake", version: "1.0.0" }, { capabilities: { tools: {} } });
    describe(server);
    return server;
  };
  const answers = {
    modern: () => createMcpHandler(factory).fetch,
    legacy: () => legacyStatelessFallback(factory),
    sessions: () => answerInSessions(factory),
  };
  const answer = answers[era]();
  return await openHttpServer(async (request, response, body) => {
    const { method = "GET", headers, url = "/" } = request;
    const aborted = new AbortController();
    response.once("close", () => aborted.abort());
    const given = new Request(new URL(url, "http://127.0.0.1"), {
      ...{ method, signal: aborted.signal },
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(method === "POST" && { body }),
    });
    const answered = await answer(given);
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    response.flushHeaders();
    if (answered.body === null) {
      response.end();
      return;
    }
    const stream = Readable.fromWeb(answered.body as never);
    stream.on("error", () => response.destroy());
    response.once("close", () => stream.destroy());
    stream.pipe(response);
  });
}

/** Keeps a server for each session. */
function answerInSessions(factory: () => McpServer): (request: Request) => Promise<Response> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) {
      return await known.handleRequest(request);
    }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await factory().connect(transport);
    return await transport.handleRequest(request);
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void> | void;

/** Opens a server that answers as the test says, well or badly. */
export async function openHttpServer(answer: Answer): Promise<FakeMcpServer> {
  const requests: RecordedMcpRequest[] = [];
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = (await request.setEncoding("utf8").toArray()).join("");
    const body = text === "" ? {} : JSON.parse(text);
    const { method = "", headers } = request;
    const broken = once(response, "close").then(() => !response.writableFinished);
    requests.push({ method, headers, rpc: String(body.method ?? ""), body, broken });
    await answer(request, response, text);
  }
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    calls: () => requests.filter(({ rpc }) => rpc === "tools/call"),
  };
}
