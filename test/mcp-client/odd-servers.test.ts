// Servers that differ from the specification as those in use do: what can be read of them is used, and a request that gets no answer
// fails at once.

import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { McpServer_Transport } from "../../gen/runnel/v1/session_pb.js";
import { openHttpServer } from "../fakes/mcp-server.ts";
import { openByHand, type Respond, sendJson } from "./legacy-by-hand.ts";
import { openModernByHand } from "./modern-by-hand.ts";
import { openRun } from "./stage.ts";

const object = { type: "object" };
const fine = { name: "fine", inputSchema: object };
const hi = { content: [{ type: "text", text: "hi" }] };

const result =
  (value: object): Respond =>
  (response, id) =>
    sendJson(response, { jsonrpc: "2.0", id, result: value });

const events =
  (text: (id: unknown) => string): Respond =>
  (response, id) =>
    void response.writeHead(200, { "content-type": "text/event-stream" }).end(text(id));

const leftOut = (problem: string): readonly string[] => [`srv_odd: the tool was left out: ${problem}`];

test.each<[name: string, tool: object, problems: readonly string[] | undefined]>([
  ["no schema", { name: "odd" }, undefined],
  ["a schema that is null", { name: "odd", inputSchema: null }, undefined],
  ["an empty schema", { name: "odd", inputSchema: {} }, undefined],
  ["a union without a type", { name: "odd", inputSchema: { anyOf: [{ ...object, properties: {} }] } }, undefined],
  ["a list of types", { name: "odd", inputSchema: { type: ["object", "null"] } }, undefined],
  ["a type in capitals", { name: "odd", inputSchema: { type: "OBJECT" } }, undefined],
  [
    "members of the schema that are null",
    { name: "odd", inputSchema: { ...object, properties: null, required: null } },
    undefined,
  ],
  ["properties as PHP writes them", { name: "odd", inputSchema: { ...object, properties: [] } }, undefined],
  ["a schema of results that is no object", { ...fine, name: "odd", outputSchema: { type: "array" } }, undefined],
  [
    "members that are null",
    { ...fine, name: "odd", title: null, description: null, outputSchema: null, annotations: null },
    undefined,
  ],
  [
    "odd icons and hints",
    { ...fine, name: "odd", icons: [{ src: 1 }], annotations: { readOnlyHint: "yes" }, execution: 1 },
    undefined,
  ],
  [
    "a schema of texts",
    { name: "odd", inputSchema: { type: "string" } },
    leftOut('parameters must be of an object, not of "string"'),
  ],
  [
    "a schema that is true",
    { name: "odd", inputSchema: true },
    leftOut("parameters must be a JSON Schema of an object"),
  ],
  ["no name", { inputSchema: object }, ["srv: a tool without a name was left out"]],
])("a tool with %s costs no other tool", async (_, tool, problems = []) => {
  const legacy = await openByHand({ "tools/list": result({ tools: [tool, fine], nextCursor: null }) });
  const modern = await openModernByHand([], {}, { tools: [tool, fine] });
  for (const { url } of [legacy, modern]) {
    const run = await openRun([{ url }]);
    expect(run.tools.map(({ name }) => name)).toEqual(problems.length === 0 ? ["srv_odd", "srv_fine"] : ["srv_fine"]);
    expect(run.problems).toEqual(problems);
  }
});

test.each<[name: string, page: object]>([
  ["null", { tools: null }],
  ["a cursor without text", { tools: [], nextCursor: "" }],
])("a list with %s is at its end", async (_, page) => {
  const server = await openByHand({ "tools/list": result(page) });
  expect((await openRun([{ url: server.url }])).tools).toEqual([]);
  expect(server.requests.filter(({ rpc }) => rpc === "tools/list")).toHaveLength(1);
});

test.each<[name: string, page: object, error: string]>([
  ["an object", { tools: {} }, "the server's list of tools is no list"],
  ["a number as cursor", { tools: [], nextCursor: 2 }, "the server's list of tools has an invalid nextCursor"],
])("a list with %s is refused", async (_, page, error) => {
  const server = await openByHand({ "tools/list": result(page) });
  await expect(openRun([{ url: server.url }])).rejects.toThrow(`mcp server "srv": ${error}`);
});

test("tools in other scripts keep names of their own", async () => {
  const tools = ["日本", "中国"].map((name) => ({ ...fine, name }));
  const server = await openByHand({ "tools/list": result({ tools }), "tools/call": result(hi) });
  const run = await openRun([{ url: server.url }]);
  const names = run.tools.map(({ name }) => name);
  expect(names).toEqual([expect.stringMatching(/^srv____[0-9a-f]{8}$/), expect.stringMatching(/^srv____[0-9a-f]{8}$/)]);
  expect(new Set(names).size).toBe(2);
  await run.call(names[1] ?? "");
  expect(server.calls()[0]?.body.params).toMatchObject({ name: "中国" });
});

test("members of the opening that are null count as missing", async () => {
  const capabilities = { tools: { listChanged: null }, prompts: null, experimental: null };
  const server = await openByHand({ "tools/list": result({ tools: [fine] }) }, { capabilities, instructions: null });
  expect((await openRun([{ url: server.url }])).tools.map(({ name }) => name)).toEqual(["srv_fine"]);
});

test.each<[name: string, result: object, outcome: object]>([
  ["members that are null", { ...hi, isError: null, structuredContent: null }, { content: "hi" }],
  ["content that is null", { content: null }, { content: "" }],
  ["content that is a text", { content: "text" }, { content: "text" }],
  ["an error that is a text", { content: "bad", isError: true }, { error: "bad" }],
  ["a list as structured content", { content: [], structuredContent: [1, 2] }, { content: "[1,2]" }],
  [
    "odd notes of a block",
    { content: [{ type: "text", text: "hi", annotations: { audience: ["all"] } }] },
    { content: "hi" },
  ],
  ["a text that is null", { content: [{ type: "text", text: null }, ...hi.content] }, { content: "hi" }],
  ["a text that is a value", { content: [{ type: "text", text: { a: 1 } }] }, { content: '{"a":1}' }],
  [
    "a block of an unknown type",
    { content: [{ type: "json", json: {} }, null, ...hi.content] },
    { content: "[content of an unknown type, left out]\nhi" },
  ],
  [
    "an image without its type",
    { content: [{ type: "image", data: "AAAA" }, ...hi.content] },
    { content: "[image that cannot be read, left out]\nhi" },
  ],
  [
    "an image in other base64",
    { content: [{ type: "image", mimeType: "image/png", data: "_-_-" }, ...hi.content] },
    { content: "[image that cannot be read, left out]\nhi" },
  ],
  [
    "a resource whose type is null",
    { content: [{ type: "resource", resource: { uri: "ui://x", mimeType: null, text: "hi" } }] },
    { content: "[ui://x]\nhi" },
  ],
  [
    "a resource without content",
    { content: [{ type: "resource" }, ...hi.content] },
    { content: "[: application/octet-stream, 0 bytes, left out]\nhi" },
  ],
  ["a link without a name", { content: [{ type: "resource_link", uri: "x://y" }] }, { content: "[x://y: x://y]" }],
])("a result with %s is read as far as it can be", async (_, value, outcome) => {
  const legacy = await openByHand({ "tools/list": result({ tools: [fine] }), "tools/call": result(value) });
  const modern = await openModernByHand(["fine"], { "tools/call": () => ({ resultType: "complete", ...value }) });
  for (const { url } of [legacy, modern]) {
    expect(await (await openRun([{ url }])).call("srv_fine")).toEqual(outcome);
  }
});

const ended = "the server ended its answer before the result";

test.each<[name: string, respond: Respond, error: string]>([
  ["a stream that ends without it", events(() => ": nothing\n\n"), ended],
  [
    "a stream that breaks",
    (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(": begun\n\n", () => response.destroy());
    },
    ended,
  ],
  ["a stream that cannot be resumed", events(() => "id: 1\nretry: 10\ndata:\n\n"), ended],
  [
    "the status 202",
    (response) => response.writeHead(202).end(),
    "the server answered 202 to a request, without a result",
  ],
  [
    "an error with a status",
    (response, id) => sendJson(response, { jsonrpc: "2.0", id, error: { code: -32602, message: "no name" } }, 400),
    "the server answered 400: no name",
  ],
  [
    "an error of no request",
    (response) => sendJson(response, { jsonrpc: "2.0", id: null, error: { code: -32700, message: "no JSON" } }),
    "the server's answer is not a message of JSON-RPC 2.0",
  ],
])("instead of a result, %s fails the call at once", async (_, respond, error) => {
  const server = await openByHand({
    "tools/list": result({ tools: [fine] }),
    "tools/call": respond,
    GET: (response) => response.writeHead(405).end(),
  });
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_fine")).toEqual({ error });
});

test("a stream that breaks during the list is asked for again", async () => {
  let count = 0;
  const list = result({ tools: [fine] });
  const server = await openByHand({
    "tools/list": (...call) => (++count === 1 ? events(() => ": nothing\n\n") : list)(...call),
  });
  expect((await openRun([{ url: server.url }])).tools.map(({ name }) => name)).toEqual(["srv_fine"]);
});

test("a server that has forgotten the session gets the call again, in a new one", async () => {
  let sessions = 0;
  const server = await openByHand({
    initialize: (response, id, { protocolVersion }: { protocolVersion: string }) => {
      const serverInfo = { name: "by hand", version: "1" };
      const opened = { protocolVersion, capabilities: { tools: {} }, serverInfo };
      sendJson(response, { jsonrpc: "2.0", id, result: opened }, 200, { "mcp-session-id": `s${++sessions}` });
    },
    "tools/list": result({ tools: [fine] }),
    "tools/call": (response, id, _, { headers }) =>
      headers["mcp-session-id"] === "s1"
        ? sendJson(response, { jsonrpc: "2.0", id, error: { code: -32001, message: "Session not found" } }, 404)
        : result(hi)(response, id, {} as never, {} as never),
  });
  const run = await openRun([{ url: server.url }]);
  expect([await run.call("srv_fine"), await run.call("srv_fine")]).toEqual([{ content: "hi" }, { content: "hi" }]);
  expect(server.calls().map(({ headers }) => headers["mcp-session-id"])).toEqual(["s1", "s2", "s2"]);
});

test("an endpoint that is gone fails the call after one attempt in a new session", async () => {
  const server = await openByHand(
    { "tools/list": result({ tools: [fine] }), "tools/call": (response) => response.writeHead(404).end() },
    {},
    { "mcp-session-id": "s1" },
  );
  const run = await openRun([{ url: server.url }]);
  expect(await run.call("srv_fine")).toEqual({ error: "the server answered 404" });
  expect(server.calls()).toHaveLength(2);
});

test.each<[name: string, answers: Readonly<Record<string, Respond>>, opening: object, error: string]>([
  ["another version", {}, { protocolVersion: "2099-01-01" }, "Server's protocol version is not supported: 2099-01-01"],
  [
    "the refusal of what it is sent",
    { "notifications/initialized": (response) => sendJson(response, { error: { message: "Invalid Host" } }, 421) },
    {},
    "the server answered 421: Invalid Host",
  ],
])("a server that opens with %s is refused with the reason", async (_, answers, opening, error) => {
  const server = await openByHand(answers, opening);
  await expect(openRun([{ url: server.url }])).rejects.toThrow(`mcp server "srv": ${error}`);
});

test("an old server whose stream ends fails its call at once, and the next call opens another", async () => {
  let stream: ServerResponse | undefined;
  const say = (event: string, data: string): void => void stream?.write(`event: ${event}\ndata: ${data}\n\n`);
  let calls = 0;
  const server = await openHttpServer((request, response, text) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return say("endpoint", "/messages");
    }
    const { id, method, params = {} } = JSON.parse(text);
    response.writeHead(202).end();
    if (method === "tools/call" && ++calls === 1) {
      stream?.destroy();
    } else if (id !== undefined) {
      const { protocolVersion } = params;
      const opened = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "old", version: "1" } };
      const value = method === "initialize" ? opened : method === "tools/list" ? { tools: [fine] } : hi;
      say("message", JSON.stringify({ jsonrpc: "2.0", id, result: value }));
    }
  });
  const run = await openRun([{ url: server.url, transport: McpServer_Transport.SSE }]);
  expect(await run.call("srv_fine")).toEqual({ error: "the server ended its stream of events" });
  expect(await run.call("srv_fine")).toEqual({ content: "hi" });
});
