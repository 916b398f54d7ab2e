// The format of failures: the body in each profile, the status, the headers; and refusals before the call.

import { connect as connectHttp2, constants } from "node:http2";
import { connect as connectSocket } from "node:net";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { ErrorBody, type RestProfileSchema } from "#gen/runnel/options/v1/options_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { part } from "../../src/api/protocol.ts";
import { Fault, invalidField } from "../../src/platform/base/fault.ts";
import { createLocalMethods } from "../../src/platform/base/local-methods.ts";
import type { ReasonName } from "../../src/platform/base/reasons.ts";
import { createRestGateway } from "../../src/surfaces/rest/gateway.ts";
import { buildService } from "./descriptors.ts";
import { startRestServer } from "./rest-server.ts";

const bare = "/v1/sessions/s";
const runnel = "/v1/runs/r";
const jobspec = "/v1/things/t";
const nowhere = "/v1/nowhere";

const things = buildService({
  fields: [{ name: "id", number: 1 }],
  methods: { Get: { rule: { pattern: { case: "get", value: "/v1/things/{id}" } } } },
  profile: { errorBody: ErrorBody.JOBSPEC },
});

/** Returns status, body and headers of a refused request. */
async function refuse(path: string, refusal: Fault) {
  await using server = await startRestServer({ refusal, own: { service: things, methods: {} } });
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, text: await response.text(), headers: Object.fromEntries(response.headers) };
}

describe("a refusal before the call", () => {
  test.each([
    [bare, '{"error":"signature \\u003cinvalid\\u003e"}\n'],
    [runnel, '{"error":"signature <invalid>","code":"UNAUTHENTICATED","reason":"SIGNATURE_INVALID"}\n'],
    [jobspec, '{"error":"signature <invalid>","error_code":"signature_invalid"}\n'],
    [nowhere, '{"error":"signature <invalid>"}\n'],
    [`${bare}/messages`, '{"error":"signature \\u003cinvalid\\u003e"}\n'],
  ])("has the same form as the service's own errors: %s", async (path, text) => {
    const answer = await refuse(path, new Fault("SIGNATURE_INVALID", "signature <invalid>"));
    expect(answer).toMatchObject({
      status: 401,
      text,
      headers: { "content-type": "application/json", "content-length": String(text.length) },
    });
  });

  test("names its fields where the profile has a place for them", async () => {
    const { status, text } = await refuse(runnel, invalidField("nonce", "is too short"));
    expect([status, JSON.parse(text)]).toEqual([
      400,
      {
        error: "invalid nonce: is too short",
        code: "INVALID_ARGUMENT",
        reason: "INVALID_ARGUMENT",
        details: { violations: [{ field: "nonce", description: "is too short" }] },
      },
    ]);
  });

  test.each([
    [bare, '{"error":"rate limit exceeded"}'],
    [nowhere, '{"error":"rate limit exceeded"}'],
    [runnel, '{"error":"rate limit exceeded","code":"RESOURCE_EXHAUSTED","reason":"RATE_LIMITED"}\n'],
    [jobspec, '{"error":"rate limit exceeded","error_code":"rate_limit_exceeded"}\n'],
  ])("by the rate limit is byte for byte as documented: %s", async (path, text) => {
    const answer = await refuse(path, new Fault("RATE_LIMITED", "rate limit exceeded", { retryAfterMs: 50 }));
    expect(answer).toMatchObject({
      status: 429,
      text,
      headers: { "retry-after": "1", "content-length": String(text.length), "content-type": "application/json" },
    });
  });

  test.each([
    [0, "1"],
    [0.001, "1"],
    [1_000, "1"],
    [1_001, "2"],
  ])("with a delay of %d ms asks for %s whole seconds", async (retryAfterMs, seconds) => {
    const { headers } = await refuse(bare, new Fault("OVERLOADED", "come later", { retryAfterMs }));
    expect(headers["retry-after"]).toBe(seconds);
  });

  test.each<[ReasonName, number]>([
    ["CREDENTIALS_MISSING", 401],
    ["ACCESS_DENIED", 403],
    ["OVERLOADED", 503],
    ["TIMEOUT", 504],
    ["BODY_TOO_LARGE", 413],
  ])("by %s is %d", async (reason, status) => {
    expect((await refuse(bare, new Fault(reason, "no"))).status).toBe(status);
  });

  test("of a request that is not read to its end closes the connection", async () => {
    const refusal = new Fault("OVERLOADED", "too many large requests at once");
    await using server = await startRestServer({ refusal });
    const socket = connectSocket(server.port, "127.0.0.1");
    socket.write("POST /v1/sessions HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{");
    const answer = Buffer.concat(await Array.fromAsync<Buffer>(socket)).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 503 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  test("works over HTTP/2", async () => {
    const refusal = new Fault("RATE_LIMITED", "rate limit exceeded", { retryAfterMs: 1 });
    await using server = await startRestServer({ refusal, http2: true });
    const session = connectHttp2(server.url);
    const stream = session.request({ ":path": bare });
    const text = Buffer.concat(await Array.fromAsync<Buffer>(stream)).toString();
    session.destroy();
    expect(text).toBe('{"error":"rate limit exceeded"}');
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });
});

describe("a refusal by the call itself", () => {
  test("is in the profile of its service", async () => {
    const methods = {
      Get: () => {
        throw new ConnectError("gone", Code.NotFound);
      },
    };
    await using server = await startRestServer({ own: { service: things, methods } });
    const response = await fetch(`${server.url}${jobspec}`);
    // An error without one of our reasons still has a code for programs.
    expect([response.status, await response.text()]).toEqual([404, '{"error":"gone","error_code":"not_found"}\n']);
  });

  test.each<[keyof typeof Code, number]>([
    ["Canceled", 499],
    ["Unknown", 500],
    ["InvalidArgument", 400],
    ["DeadlineExceeded", 504],
    ["NotFound", 404],
    ["AlreadyExists", 409],
    ["PermissionDenied", 403],
    ["ResourceExhausted", 429],
    ["FailedPrecondition", 400],
    ["Aborted", 409],
    ["OutOfRange", 400],
    ["Unimplemented", 501],
    ["Internal", 500],
    ["Unavailable", 503],
    ["DataLoss", 500],
    ["Unauthenticated", 401],
  ])("without a reason has the status of its code: %s is %d", async (code, status) => {
    const methods = {
      Get: () => {
        throw new ConnectError("no", Code[code]);
      },
    };
    await using server = await startRestServer({ own: { service: things, methods } });
    expect((await fetch(`${server.url}${jobspec}`)).status).toBe(status);
  });

  test.each<[MessageInitShape<typeof RestProfileSchema>, string]>([
    [{}, '{"error":"a<b\u2028","code":"NOT_FOUND"}\n'],
    [{ goText: true }, '{"error":"a\\u003cb\\u2028","code":"NOT_FOUND"}\n'],
    [{ goText: true, errorBody: ErrorBody.JOBSPEC }, '{"error":"a\\u003cb\\u2028","error_code":"not_found"}\n'],
  ])("is escaped as Go does only where the profile %j says so", async (profile, text) => {
    const service = buildService({
      fields: [{ name: "id", number: 1 }],
      methods: { Get: { rule: { pattern: { case: "get", value: "/v1/things/{id}" } } } },
      profile,
    });
    const methods = {
      Get: () => {
        throw new ConnectError("a<b\u2028", Code.NotFound);
      },
    };
    await using server = await startRestServer({ own: { service, methods } });
    expect(await (await fetch(`${server.url}${jobspec}`)).text()).toBe(text);
  });
});

test("the gateway names the method of a request before it reads the body", () => {
  const parts = [part(RunService, {}), part(SessionService, {})];
  const methods = createLocalMethods(parts, { assertAccess: () => {}, interceptors: [] });
  const gateway = createRestGateway({ methods, services: [RunService, SessionService] });
  expect(gateway.describe("/v1/runs/x:cancel?a=b", "POST")).toEqual({
    method: RunService.method.cancelRun,
    reader: { kind: "text", takesPlainText: false },
  });
  expect(gateway.describe("/v1/sessions/s/stream", "GET")).toEqual({
    method: SessionService.method.streamSession,
    reader: { kind: "none" },
  });
  expect(gateway.describe("/v1/runs/x:cancel", "GET")).toEqual({
    method: undefined,
    reader: { kind: "request" },
  });
  expect(gateway.describe("/v1/runs/%ZZ", "GET").method).toBe(RunService.method.getRun);
  for (const path of ["/", "*", "", "/runnel.v1.RunService/GetRun"]) {
    expect(gateway.describe(path, "GET")).toEqual({
      method: undefined,
      reader: { kind: "request" },
    });
  }
});

test("a service whose error body no protocol brings is refused at the start", async () => {
  const started = startRestServer({ own: { service: things, methods: {} }, gateway: { errorForms: [] } });
  await expect(started).rejects.toMatchObject({
    reason: "CONFIG_INVALID",
    message: "no protocol has the form of the error body JOBSPEC",
  });
});
