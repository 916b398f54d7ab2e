// Every answer says that no cache may keep it and that its type is the declared one: of each route, of each door, of a success and
// of a failure, over HTTP/1.1 and HTTP/2.

import { once } from "node:events";
import http2, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { frame } from "../conformance/grpc-frames.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { sendRaw } from "../harness/raw-http.ts";
import { startService } from "../harness/service.ts";

const stored = "no-store";
const streamed = "no-cache, no-store";
const json = { "content-type": "application/json" };

test("every route of REST has the headers, without credentials and with a call that fails or succeeds", async () => {
  const { url } = await startService();
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const operations = Object.entries(paths).flatMap(([template, methods]) =>
    Object.keys(methods)
      .filter((method) => /^(?:get|post|put|patch|delete)$/.test(method))
      .map((method) => ({ method: method.toUpperCase(), path: template.replaceAll(/\{[^}]*\}/g, "x") })),
  );
  expect(operations.length).toBeGreaterThan(50);
  for (const { method, path } of operations) {
    for (const headers of [{}, credentialsOf()]) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...headers, "content-type": "application/json" },
        ...(method !== "GET" && method !== "DELETE" && { body: "{" }),
      });
      await response.body?.cancel();
      expectHeaders(response, response.headers.get("content-type") === "text/event-stream" ? streamed : stored);
    }
  }
});

test("the probes, documents, pages and refusals of the port have them", async () => {
  const { url } = await startService({ consoleEnabled: true, serverCorsOrigins: ["https://app.example"] });
  const preflight = { origin: "https://app.example", "access-control-request-method": "POST" };
  for (const [method, path, status, headers, caching] of [
    ["GET", "/livez", 200, {}, stored],
    ["GET", "/readyz", 200, {}, stored],
    ["GET", "/health", 200, {}, stored],
    ["POST", "/health", 405, {}, stored],
    ["GET", "/version", 200, {}, stored],
    ["GET", "/openapi.json", 200, {}, stored],
    ["GET", "/descriptors.binpb", 200, {}, stored],
    ["GET", "/nothing", 404, {}, stored],
    ["GET", "/v1/nothing", 401, {}, stored],
    ["GET", "/v1/nothing", 404, credentialsOf(), stored],
    ["DELETE", "/v1/sessions", 405, credentialsOf(), stored],
    ["OPTIONS", "/v1/sessions", 204, preflight, stored],
    ["GET", "/", 302, {}, stored],
    ["GET", "/console/", 200, {}, "no-cache"],
    ["GET", "/console/assets/unknown.js", 404, {}, stored],
  ] as const) {
    const response = await fetch(`${url}${path}`, { method, headers, redirect: "manual" });
    expect([path, response.status]).toEqual([path, status]);
    expectHeaders(response, caching);
  }
  const page = await (await fetch(`${url}/console/`)).text();
  const [, script = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(page) ?? [];
  expectHeaders(await fetch(`${url}/console/${script}`), "public, max-age=31536000, immutable");
  const twice = await sendRaw(url, { method: "GET", path: "/version", headers: [["Host", "other"]] });
  expect([twice.status, twice.headers.get("cache-control"), twice.headers.get("x-content-type-options")]).toEqual([
    400,
    stored,
    "nosniff",
  ]);
});

test("so do a service without credentials that refuses a foreign page, the metrics, and the port for HTTP/2 only", async () => {
  const { url, app } = await startService({ authApiKeys: [], metricsPort: 0, serverH2Port: 0 });
  const foreign = await fetch(`${url}/v1/sessions`, { headers: { origin: "https://evil.example" } });
  expect(foreign.status).toBe(403);
  expectHeaders(foreign, stored);
  for (const path of ["/metrics", "/nothing"]) {
    expectHeaders(await fetch(`http://127.0.0.1:${app.metricsPort}${path}`), stored);
  }
  const socket = connect(app.h2Port ?? 0, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  expect(await text(socket)).toMatch(
    /^HTTP\/1\.1 505 [\s\S]*cache-control: no-store\r\nx-content-type-options: nosniff\r\n/,
  );
});

test("streams have them too: opened by a key, by a ticket, and without an event", async ({ service: { url } }) => {
  const headers = { ...json, ...credentialsOf() };
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expectHeaders(await post("/v1/sessions", { session_id: "s-1", agent: { name: "a" } }), stored);
  const sent = await post("/v1/sessions/s-1/messages", { message: "hello" });
  expect(sent.status).toBe(202);
  expectHeaders(sent, stored);
  const stream = await fetch(`${url}/v1/sessions/s-1/stream`, { headers });
  expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  expectHeaders(stream, streamed);
  const ids = [...(await stream.text()).matchAll(/^id: (.*)$/gm)];
  const made = await post("/v1/auth/tickets", { target: { sessionId: "s-1" } });
  expect(made.status).toBe(201);
  const { ticket } = (await made.json()) as { ticket: string };
  const opened = await fetch(`${url}/v1/sessions/s-1/stream?ticket=${ticket}`);
  expect(opened.status).toBe(200);
  expectHeaders(opened, streamed);
  await opened.body?.cancel();
  const over = await fetch(`${url}/v1/sessions/s-1/stream?after=${ids.at(-1)?.[1]}`, { headers });
  expect(over.status).toBe(204);
  expectHeaders(over, stored);
});

test("the RPCs have them over Connect, gRPC-Web and gRPC, unary and streaming, in success and failure", async () => {
  const { url } = await startService();
  const unary = "/runnel.v1.SessionService/ListSessions";
  const stream = "/grpc.health.v1.Health/Watch";
  const missing = "/runnel.v1.SessionService/GetSession";
  const call = openHttp2(url);
  for (const path of [unary, stream, missing]) {
    for (const [type, body] of [
      ["application/json", "{}"],
      ["application/proto", ""],
      ["application/connect+json", frame(Buffer.from("{}"))],
      ["application/grpc-web+proto", frame(Buffer.alloc(0))],
      ["application/grpc+proto", frame(Buffer.alloc(0))],
      ["text/plain", "not an RPC"],
    ] as const) {
      for (const credentials of [{}, credentialsOf()]) {
        const head = { "content-type": type, te: "trailers", ...credentials };
        expectHeaders2(await call({ ":method": "POST", ":path": path, ...head }, body), stored);
        if (path !== stream) {
          const { te: _, ...headers } = head;
          expectHeaders(await fetch(`${url}${path}`, { method: "POST", headers, body }), stored);
        }
      }
    }
  }
});

test("OpenAI's API and AG-UI have them, whole, streamed and refused", async ({ service: { url } }) => {
  const input = { threadId: "t-1", runId: "r-1", messages: [{ id: "m-1", role: "user", content: "hello" }] };
  const agUi = { ...input, tools: [], context: [], state: {}, forwardedProps: {} };
  for (const [path, body, status, caching] of [
    ["/v1/responses", { model: "demo", input: "hello" }, 200, stored],
    ["/v1/responses", { model: "demo", input: "hello", stream: true }, 200, streamed],
    ["/v1/responses", { model: "demo", input: 7 }, 400, stored],
    ["/v1/chat/completions", { model: "demo", messages: [{ role: "user", content: "hello" }] }, 200, stored],
    ["/v1/chat/unknown", {}, 404, stored],
    ["/v1/ag-ui/default", agUi, 200, streamed],
    ["/v1/ag-ui/default", {}, 400, stored],
  ] as const) {
    const request = { method: "POST", body: JSON.stringify(body) };
    const answered = await fetch(`${url}${path}`, { ...request, headers: { ...json, ...credentialsOf() } });
    expect([path, answered.status, await answered.text()]).toEqual([path, status, expect.anything()]);
    expectHeaders(answered, caching);
    const refused = await fetch(`${url}${path}`, { ...request, headers: json });
    expect(refused.status).toBe(401);
    expectHeaders(refused, stored);
  }
});

function expectHeaders({ url, headers }: Response, caching: string): void {
  const found = [headers.get("cache-control"), headers.get("x-content-type-options")];
  expect(found, url).toEqual([caching, "nosniff"]);
}

function expectHeaders2(headers: IncomingHttpHeaders, caching: string): void {
  expect([headers["cache-control"], headers["x-content-type-options"]]).toEqual([caching, "nosniff"]);
}

/** Returns a function that sends a request over HTTP/2 and resolves with the head of its answer. */
function openHttp2(url: string): (head: OutgoingHttpHeaders, body: string | Buffer) => Promise<IncomingHttpHeaders> {
  const session = http2.connect(url);
  onTestFinished(() => session.destroy());
  return async (head, body) => {
    const stream = session.request(head);
    stream.on("error", () => {});
    stream.end(body);
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    stream.close();
    return headers;
  };
}
