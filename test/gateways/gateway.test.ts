// REST over a real port: routes, statuses, bodies and errors of unary methods.

import { once } from "node:events";
import { connect as connectHttp2, constants, type IncomingHttpHeaders } from "node:http2";
import { connect as connectSocket } from "node:net";
import { Code, ConnectError, createContextKey, createContextValues } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import { Session_State } from "#gen/runnel/v1/session_pb.js";
import type { CreateSessionRequest } from "#gen/runnel/v1/session_service_pb.js";
import { Fault } from "../../src/platform/base/fault.ts";
import { startRestServer } from "./rest-server.ts";

const json = { "content-type": "application/json" };

function failure(
  code: Code,
  reason: string,
  details: { retryNanos?: number; field?: string; cause?: Fault } = {},
): ConnectError {
  const all = [
    { desc: ErrorInfoSchema, value: { reason, domain: "runnel.dev", metadata: { key: "value" } } },
    ...(details.retryNanos === undefined
      ? []
      : [{ desc: RetryInfoSchema, value: { retryDelay: { seconds: 2n, nanos: details.retryNanos } } }]),
    ...(details.field === undefined
      ? []
      : [{ desc: BadRequestSchema, value: { fieldViolations: [{ field: details.field, description: "is bad" }] } }]),
  ];
  return new ConnectError("it <failed>", code, undefined, all, details.cause);
}

describe("a unary method", () => {
  test("is called with body and path, and answers with its success status, key order and final newline", async () => {
    const seen: CreateSessionRequest[] = [];
    await using server = await startRestServer({
      sessions: {
        createSession: (request) => {
          seen.push(request);
          return { sessionId: "s1", status: Session_State.CREATED };
        },
        sendMessage: ({ sessionId, message }) => ({ sessionId, status: Session_State.RUNNING, runId: message }),
      },
    });
    const created = await fetch(`${server.url}/v1/sessions`, {
      method: "POST",
      body: '{"Agent":{"name":"a","temperature":0},"unknown":1} trailing',
    });
    expect(created.status).toBe(201);
    expect(created.headers.get("content-type")).toBe("application/json");
    expect(created.headers.get("content-length")).toBe("39");
    expect(await created.text()).toBe('{"session_id":"s1","status":"created"}\n');
    expect(seen[0]?.agent).toMatchObject({ name: "a", temperature: 0 });
    const sent = await fetch(`${server.url}/v1/sessions/s%2F1/messages`, {
      method: "POST",
      body: '{"session_id":"other","message":"<m>"}',
    });
    expect(sent.status).toBe(202);
    expect(await sent.text()).toBe(
      '{"session_id":"s/1","status":"running","tools_registered":[],"run_id":"\\u003cm\\u003e"}\n',
    );
  });

  test("needs no body when the path contains everything", async () => {
    await using server = await startRestServer({ runs: { cancelRun: ({ runId }) => ({ run: { runId } }) } });
    const response = await fetch(`${server.url}/v1/runs/r1:cancel`, { method: "POST" });
    expect(await response.text()).toBe('{"run_id":"r1"}\n');
  });

  test("sees the server's context values and the caller's timeout", async () => {
    const caller = createContextKey("nobody");
    await using server = await startRestServer({
      call: { contextValues: createContextValues().set(caller, "client-1") },
      runs: {
        getRun: (_, context) => {
          expect(context.timeoutMs()).toBeLessThanOrEqual(9_000);
          return { run: { runId: context.values.get(caller) } };
        },
      },
    });
    const response = await fetch(`${server.url}/v1/runs/r1`, { headers: { "connect-timeout-ms": "9000" } });
    expect(await response.text()).toBe('{"run_id":"client-1"}\n');
    const refused = await fetch(`${server.url}/v1/runs/r1`, { headers: { "connect-timeout-ms": "soon" } });
    expect(refused.status).toBe(400);
  });

  test("takes a body that the server has already read", async () => {
    await using server = await startRestServer({
      call: { body: Buffer.from('{"message":"signed"}') },
      sessions: { sendMessage: ({ message }) => ({ runId: message }) },
    });
    const response = await fetch(`${server.url}/v1/sessions/s/messages`, { method: "POST" });
    expect(await response.json()).toMatchObject({ run_id: "signed" });
  });
});

describe("a request without a matching route", () => {
  async function ask(path: string, method: string): Promise<[Response, string]> {
    await using server = await startRestServer({});
    const response = await fetch(`${server.url}${path}`, { method });
    return [response, await response.text()];
  }

  test.each(["/v1/nope", "/", "/v1/sessions/", "/v1//sessions", "/V1/sessions", "/runnel.v1.RunService/GetRun"])(
    "is the plain 404 page at %s",
    async (path) => {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        const [{ status, headers }, text] = await ask(path, method);
        expect([status, text]).toEqual([404, "404 page not found\n"]);
        expect(Object.fromEntries(headers)).toMatchObject({
          "content-type": "text/plain; charset=utf-8",
          "content-length": "19",
        });
      }
    },
  );

  test.each([
    ["PUT", "/v1/sessions/s", "GET, DELETE, PATCH"],
    ["HEAD", "/v1/sessions/s", "GET, DELETE, PATCH"],
    ["DELETE", "/v1/sessions", "POST, GET"],
    ["GET", "/v1/sessions/s/messages", "POST"],
    ["POST", "/v1/sessions/s/stream", "GET"],
    ["GET", "/v1/runs/r:cancel", "POST"],
  ])("is an empty 405 with the methods of the path: %s %s", async (method, path, allow) => {
    const [{ status, headers }, text] = await ask(path, method);
    expect([status, headers.get("allow"), headers.get("content-length"), text]).toEqual([405, allow, "0", ""]);
    expect(headers.has("content-type")).toBe(false);
  });

  test("has no body over HTTP/2 either", async () => {
    await using server = await startRestServer({ http2: true });
    const session = connectHttp2(server.url);
    const stream = session.request({ ":method": "PUT", ":path": "/v1/sessions/s" });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    const text = Buffer.concat(await Array.fromAsync<Buffer>(stream)).toString();
    session.destroy();
    expect([headers[":status"], headers.allow, headers["content-length"], text]).toEqual([
      405,
      "GET, DELETE, PATCH",
      "0",
      "",
    ]);
  });
});

describe("an error of the method", () => {
  const errors: Record<string, () => unknown> = {
    known: () =>
      failure(Code.FailedPrecondition, "SESSION_BUSY", { retryNanos: 1, cause: new Fault("SESSION_BUSY", "secret") }),
    unknown: () => failure(Code.FailedPrecondition, "SOMETHING_NEW", { field: "run_id" }),
    inherited: () => failure(Code.NotFound, "toString"),
    plain: () => new Error("secret"),
    missing: () => new ConnectError("gone", Code.NotFound),
    unauthenticated: () => new ConnectError("who are you", Code.Unauthenticated),
    late: () => new ConnectError("too late", Code.DeadlineExceeded),
  };
  const getRun = ({ runId }: { runId: string }): never => {
    throw errors[runId]?.();
  };

  test.each([
    [
      "known",
      409,
      {
        error: "it <failed>",
        code: "FAILED_PRECONDITION",
        reason: "SESSION_BUSY",
        details: { metadata: { key: "value" } },
      },
    ],
    [
      "unknown",
      400,
      {
        error: "it <failed>",
        code: "FAILED_PRECONDITION",
        reason: "SOMETHING_NEW",
        details: { metadata: { key: "value" }, violations: [{ field: "run_id", description: "is bad" }] },
      },
    ],
    ["inherited", 404, { reason: "toString" }],
    ["plain", 500, { error: "internal error", code: "INTERNAL" }],
    ["missing", 404, { error: "gone", code: "NOT_FOUND" }],
    ["unauthenticated", 401, { code: "UNAUTHENTICATED" }],
    ["late", 504, { code: "DEADLINE_EXCEEDED" }],
  ])("%s is %d", async (id, status, body) => {
    await using server = await startRestServer({ runs: { getRun } });
    const response = await fetch(`${server.url}/v1/runs/${id}`);
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe(id === "known" ? "3" : null);
    expect(await response.json()).toMatchObject(body);
  });

  test("is only its text for a service with bare errors", async () => {
    await using server = await startRestServer({
      sessions: { getSession: () => Promise.reject(failure(Code.NotFound, "SESSION_NOT_FOUND")) },
    });
    const response = await fetch(`${server.url}/v1/sessions/s`);
    expect([response.status, await response.text()]).toEqual([404, '{"error":"it \\u003cfailed\\u003e"}\n']);
  });

  test("inside the gateway is reported and reveals nothing", async () => {
    const reported: unknown[] = [];
    await using server = await startRestServer({
      runs: { getRun: () => ({ run: { createTime: { seconds: 10n ** 12n, nanos: 0 } } }) },
      gateway: { reportError: (error) => reported.push(error) },
    });
    const response = await fetch(`${server.url}/v1/runs/r`);
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: "internal error", code: "INTERNAL", reason: "INTERNAL" },
    ]);
    expect(reported).toHaveLength(1);
  });
});

describe("a request body", () => {
  test.each([
    ["text/plain", 415],
    ["application/jsonx", 415],
    ["application/json; charset=utf-8", 200],
    ["Application/JSON", 200],
    ["application/x-www-form-urlencoded", 200],
  ])("of type %s is %d for a strict service", async (contentType, status) => {
    await using server = await startRestServer({ runs: { cancelRun: () => ({ run: {} }) } });
    const response = await fetch(`${server.url}/v1/runs/r:cancel`, {
      method: "POST",
      headers: { "content-type": contentType },
      body: "{}",
    });
    expect(response.status).toBe(status);
  });

  test("that is malformed is refused with a text that begins as documented", async () => {
    await using server = await startRestServer({});
    const post = async (path: string, body: string | Uint8Array<ArrayBuffer>): Promise<unknown> => {
      const response = await fetch(`${server.url}${path}`, { method: "POST", headers: json, body });
      return [response.status, ((await response.json()) as { error: string }).error];
    };
    expect(await post("/v1/sessions", "")).toEqual([400, "invalid request body: EOF"]);
    expect(await post("/v1/sessions", "{")).toEqual([400, "invalid request body: unexpected EOF"]);
    expect(await post("/v1/runs/r:cancel", '{"x":1}')).toEqual([400, "invalid request body: x: unknown key"]);
    expect(await post("/v1/runs/r:cancel", new Uint8Array([0xff]))).toEqual([400, "invalid request body: not UTF-8"]);
  });

  test("that is compressed is 415", async () => {
    await using server = await startRestServer({});
    const response = await fetch(`${server.url}/v1/sessions`, {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body: "x",
    });
    expect(response.status).toBe(415);
  });

  test.each([
    ["announced", "content-length: 2000\r\n\r\n"],
    ["streamed", `transfer-encoding: chunked\r\n\r\n3e8\r\n${"x".repeat(1000)}\r\n3e8\r\n`],
  ])("over the limit, %s, is 413, and the connection closes without the rest", async (_, rest) => {
    await using server = await startRestServer({ bodyBytesMax: 1000 });
    const socket = connectSocket(server.port, "127.0.0.1");
    socket.write(`POST /v1/sessions HTTP/1.1\r\nhost: x\r\n${rest}${rest.endsWith("3e8\r\n") ? "y" : ""}`);
    const answer = Buffer.concat(await Array.fromAsync<Buffer>(socket)).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toLowerCase()).toContain("connection: close");
    expect(answer).toContain('{"error":"the request body is larger than 1000 bytes"}\n');
  });

  test("over the limit is 413 over HTTP/2, and its stream ends without the rest", async () => {
    await using server = await startRestServer({ http2: true, bodyBytesMax: 1000 });
    const session = connectHttp2(server.url);
    const stream = session.request({ ":method": "POST", ":path": "/v1/sessions" });
    const seen: unknown[] = [];
    stream.on("response", (headers) => seen.push(headers[":status"]));
    stream.on("data", (chunk: Buffer) => seen.push(chunk.toString()));
    stream.write("x".repeat(1001));
    // Our side of the stream stays open, so only the server can close it.
    await once(stream, "close");
    session.destroy();
    expect(seen).toEqual([413, '{"error":"the request body is larger than 1000 bytes"}\n']);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  test("at the limit is accepted", async () => {
    const body = '{"agent":{"name":"a"}}';
    await using server = await startRestServer({
      bodyBytesMax: body.length,
      sessions: { createSession: () => ({}) },
    });
    const response = await fetch(`${server.url}/v1/sessions`, { method: "POST", body });
    expect(response.status).toBe(201);
  });
});
