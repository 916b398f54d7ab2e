// What programs written for the Agent Runner document send beyond its examples, and what they get.

import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect } from "vitest";
import { answer, hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { test as base, setStage } from "./stage.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");
const test = base.extend("kind", rest);

async function call(service: TestService, method: string, path: string, body?: string): Promise<number> {
  const init = { method, headers: credentialsOf(), ...(body !== undefined && { body }) };
  const response = await fetch(`${service.url}${path}`, init);
  await response.text();
  return response.status;
}

const create = '{"session_id":"s-1","agent":{"name":"a"}}';

describe("a query parameter that the service does not know", () => {
  test("is ignored on every route of sessions", async ({ service, provider }) => {
    provider.respond(answer("hello"));
    const query = "_=1700000000&lastEventId=7&x&%ff=1";
    expect(await call(service, "POST", `/v1/sessions?${query}`, create)).toBe(201);
    expect(await call(service, "GET", `/v1/sessions?${query}`)).toBe(200);
    expect(await call(service, "GET", `/v1/sessions/s-1?${query}&session_id=other`)).toBe(200);
    expect(await call(service, "POST", `/v1/sessions/s-1/messages?${query}`, '{"message":"go"}')).toBe(202);
    expect(await call(service, "GET", `/v1/sessions/s-1/stream?${query}`)).toBe(200);
    expect(await call(service, "DELETE", `/v1/sessions/s-1?${query}`)).toBe(200);
  });

  test("does not disable the checks of known ones, and is refused on routes of other services", async ({ service }) => {
    expect(await call(service, "GET", "/v1/sessions?_=1&page_size=ten")).toBe(400);
    expect(await call(service, "GET", "/v1/sessions?page_size=1&page_size=2")).toBe(400);
    expect(await call(service, "GET", "/v1/runs?_=1")).toBe(400);
  });
});

describe("a session without a message", () => {
  const foreignId = "01890a5d-ac96-774b-bcce-b302099a8057.12";

  async function readAfter(query: string, headers: Record<string, string>): Promise<readonly [number, string]> {
    const { service, provider } = await setStage(rest);
    provider.respond(answer("hello"));
    await call(service, "POST", "/v1/sessions", create);
    const url = `${service.url}/v1/sessions/s-1/stream${query}`;
    const response = await fetch(url, { headers: { ...credentialsOf(), ...headers } });
    if (response.status === 200) {
      await call(service, "POST", "/v1/sessions/s-1/messages", '{"message":"go"}');
    }
    return [response.status, await response.text()];
  }

  test.each([
    ["?after_seq=0", {}],
    ["?after=7", {}],
    [`?after=${foreignId}`, {}],
    ["", { "last-event-id": "0" }],
    ["", { "last-event-id": foreignId }],
    ["", { "last-event-id": "of another server" }],
  ])("accepts the position %s %o, and its reader gets everything", async (query, headers) => {
    const [status, events] = await readAfter(query, headers);
    expect(status).toBe(200);
    expect(events).toMatch(/event: text\ndata: \{"content":"hello"\}\n\n[\s\S]*event: done\n/);
  });

  test("refuses an `after` of another form", async () => {
    expect(await readAfter("?after=soon", {})).toEqual([400, expect.stringContaining("invalid after")]);
  });
});

describe("a raw request", () => {
  /** Sends the head exactly as given and reads until the service closes the connection. */
  async function send(service: TestService, lines: readonly string[], body = ""): Promise<string> {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(`${[...lines, "Connection: close", "", ""].join("\r\n")}${body}`);
    return await text(socket);
  }

  const { authorization } = credentialsOf();
  const auth = `Authorization: ${authorization}`;

  test("with two Host headers is refused on every route", async ({ service }) => {
    for (const path of ["/health", "/v1/sessions", "/nothing"]) {
      const lines = [`GET ${path} HTTP/1.1`, "Host: a", "Host: b", auth];
      const answered = await send(service, lines);
      expect(answered).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(answered).toContain("Host");
    }
    expect(await send(service, ["GET /health HTTP/1.1", "Host: a", "host: a"])).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("with an absolute target is served like one with a path", async ({ service, provider }) => {
    provider.respond(answer("hello"));
    const at = (path: string) => `http://runner.example:8090${path}`;
    const post = (path: string, body: string) =>
      send(service, [`POST ${at(path)} HTTP/1.1`, "Host: x", auth, `Content-Length: ${body.length}`], body);
    const get = (path: string) => send(service, [`GET ${at(path)} HTTP/1.1`, "Host: x", auth]);
    expect(await send(service, [`GET ${at("/v1/sessions/s-1")} HTTP/1.1`, "Host: x"])).toMatch(/^HTTP\/1\.1 401 /);
    expect(await get("/health")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await get("/openapi.json?_=1")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await post("/v1/sessions", create)).toMatch(/^HTTP\/1\.1 201 /);
    expect(await get("/v1/sessions/s-1?_=1")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await post("/v1/sessions/s-1/messages", '{"message":"go"}')).toMatch(/^HTTP\/1\.1 202 /);
    expect(await get("/v1/sessions/s-1/stream")).toMatch(/^HTTP\/1\.1 200 [\s\S]*event: done/);
    expect(await get("")).toMatch(/^HTTP\/1\.1 404 /);
  });

  test("with an absolute target has its host there, not in its Host header", async () => {
    const service = await startService({ authApiKeys: [] });
    const ask = (target: string, host: string) => send(service, [`GET ${target} HTTP/1.1`, `Host: ${host}`]);
    expect(await ask("http://localhost/v1/sessions", "evil.example")).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask("http://evil.example/v1/sessions", "localhost")).toMatch(/^HTTP\/1\.1 403 /);
  });
});

describe("deleting a running session", () => {
  test("ends its stream with `done`, cancelled, and without an error", async ({ service, provider }) => {
    provider.respond(hangAfter("Once upon"));
    await call(service, "POST", "/v1/sessions", create);
    await call(service, "POST", "/v1/sessions/s-1/messages", '{"message":"go"}');
    const response = await fetch(`${service.url}/v1/sessions/s-1/stream`, { headers: credentialsOf() });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let told = "";
    const read = async (): Promise<boolean> => {
      const { done, value = "" } = (await reader?.read()) ?? { done: true };
      told += value;
      return done;
    };
    await until("its words", async () => (await read()) || told.includes("Once upon"));
    expect(await call(service, "DELETE", "/v1/sessions/s-1")).toBe(200);
    await until("the end", read);
    expect(told.match(/^event: .*$/gm)).toEqual(["event: text", "event: done"]);
    expect(told).toMatch(/data: \{"status":"cancelled","output":"Once upon","duration_ms":\d+\}\n\n$/);
  });
});
