// Bodies with many or deep values: every surface refuses them before it builds anything, and large bodies count as several calls.

import { request } from "node:http";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished } from "vitest";
import { TailRunRequestSchema } from "#gen/runnel/v1/run_service_pb.js";
import { SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import { publicBodyBytesMax } from "../../src/platform/config/limits.ts";
import { callRaw, frame } from "../conformance/grpc-frames.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";

const valuesMax = 250_000;
const tooMany = `more than ${valuesMax} values`;
const sendMessage = "/runnel.v1.SessionService/SendMessage";
const tailRun = "/runnel.v1.RunService/TailRun";

const listOf = (length: number, item = "1"): string => `[${Array(length).fill(item).join(",")}]`;
const nestedIn = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
/** Two bytes each: the empty messages of SendMessageRequest.messages. */
const emptyMessages = (count: number): Buffer => Buffer.alloc(2 * count).fill(Buffer.from([0x22, 0]));

async function post(
  { url }: TestService,
  path: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<[number, string]> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": "application/json", ...headers },
    body,
  });
  return [response.status, await response.text()];
}

describe("a body with too many values is refused", () => {
  const many = `{"messages":${listOf(valuesMax)}}`;

  test.each([
    ["REST", "/v1/sessions", many, {}],
    ["REST, in a field that holds any JSON", "/v1/sessions", `{"annotations":${many}}`, {}],
    ["OpenAI", "/v1/chat/completions", `{"model":"demo","metadata":${many}}`, {}],
    ["OpenAI, as empty objects", "/v1/responses", `{"model":"demo","input":${listOf(valuesMax, "{}")}}`, {}],
    ["AG-UI", "/v1/ag-ui/x", many, {}],
    ["Connect JSON", sendMessage, many, {}],
    ["Connect JSON, compressed", sendMessage, gzipSync(many), { "content-encoding": "gzip" }],
    ["Connect JSON, of a stream", tailRun, frame(Buffer.from(many)), { "content-type": "application/connect+json" }],
    ["Connect protobuf", sendMessage, emptyMessages(valuesMax + 1), { "content-type": "application/proto" }],
  ])("%s", async (what, path, body, headers) => {
    const service = await startService({ agentPresets: ['x={"model":"demo"}'] });
    const [code, text] = await post(service, path, body, headers);
    const isStream = what.includes("stream");
    expect([code, text]).toEqual([isStream ? 200 : 400, expect.stringContaining(tooMany)]);
  });

  test.for([
    ["gRPC", 0, {}],
    ["gRPC, compressed", 1, { "grpc-encoding": "gzip" }],
    ["gRPC, compressed to a light body", 1, { "grpc-encoding": "gzip", "connect-content-encoding": "identity" }],
  ] as const)("%s", async ([_, flag, headers], { service }) => {
    const message = emptyMessages(valuesMax + 1);
    const body = frame(flag === 1 ? gzipSync(message) : message, { flag });
    // The prefix alone says that the message is small.
    const end = await callRaw(service.url, sendMessage, [body.subarray(0, 5), body.subarray(5)], headers);
    expect(end).toMatchObject({ grpcStatus: status.INVALID_ARGUMENT, message: expect.stringContaining(tooMany) });
  });

  test("a stream of Connect, whose encoding a header of gRPC denies", async ({ service }) => {
    const headers = {
      "content-type": "application/connect+proto",
      "connect-content-encoding": "gzip",
      "grpc-encoding": "identity",
    };
    const body = frame(gzipSync(emptyMessages(valuesMax + 1)), { flag: 1 });
    expect(await post(service, tailRun, body, headers)).toEqual([200, expect.stringContaining(tooMany)]);
  });
});

describe("a call that needs no credentials has at most 1 MiB", () => {
  const check = "/grpc.health.v1.Health/Check";
  const large = Buffer.alloc(publicBodyBytesMax).fill(Buffer.from([0x0a, 0]));

  test.for([
    ["sent", frame(large)],
    ["only claimed", frame(Buffer.alloc(0), { claimedBytes: publicBodyBytesMax + 1 })],
  ] as const)("over gRPC, %s", async ([_, body], { service }) => {
    const end = await callRaw(service.url, check, body, { authorization: "" });
    expect(end).toMatchObject({
      grpcStatus: status.RESOURCE_EXHAUSTED,
      message: `the request body is larger than ${publicBodyBytesMax} bytes`,
    });
  });

  test("over Connect", async ({ service }) => {
    const body = Buffer.concat([large, Buffer.alloc(2)]);
    const [code] = await post(service, check, body, { "content-type": "application/proto" });
    expect(code).toBe(429);
  });
});

test("a message in a stream of requests has at most 8 KiB", async ({ service }) => {
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const end = await callRaw(service.url, path, frame(Buffer.alloc(8_193)));
  expect(end.grpcStatus).toBe(status.RESOURCE_EXHAUSTED);
});

describe("a second message of a call that takes one is refused before it is read", () => {
  const runId = "01890000-0000-7000-8000-000000000000";
  const tail = toBinary(TailRunRequestSchema, create(TailRunRequestSchema, { runId }));

  test.for([
    ["a unary call", sendMessage, Buffer.alloc(0)],
    ["a stream of answers", tailRun, tail],
    ["a call that needs no credentials", "/grpc.health.v1.Health/Check", Buffer.alloc(0)],
  ] as const)("%s", async ([_, path, first], { service }) => {
    // Invalid, so that reading it would give another error.
    const both = Buffer.concat([frame(first), frame(Buffer.from([0xff]), { flag: 1 })]);
    for (const at of [0, 2, 5, first.length + 5, first.length + 6, first.length + 10]) {
      const parts = [both.subarray(0, at), both.subarray(at)];
      const end = await callRaw(service.url, path, parts, { "grpc-encoding": "gzip" });
      expect(end).toMatchObject({
        grpcStatus: status.UNIMPLEMENTED,
        message: expect.stringMatching(/received extra input message for (unary|server-streaming) method$/),
      });
    }
  });
});

test("a body with as many values as permitted is read", async ({ service }) => {
  const [code, text] = await post(
    service,
    "/v1/sessions/none/messages",
    `{"message":"x","zzz":${listOf(valuesMax - 4)}}`,
  );
  expect([code, text]).toEqual([404, expect.stringContaining("session not found")]);
  const bytes = toBinary(
    SendMessageRequestSchema,
    create(SendMessageRequestSchema, { sessionId: "none", message: "x" }),
  );
  const [rpcCode] = await post(service, sendMessage, Buffer.from(bytes), { "content-type": "application/proto" });
  expect(rpcCode).toBe(404);
});

test.each([
  [
    "REST",
    "/v1/sessions",
    (json: string) => `{"agent":{"name":"n","tools":{"remote":[{"name":"a","parameters":${json}}]}}}`,
  ],
  ["OpenAI", "/v1/chat/completions", (json: string) => `{"model":"demo","tools":${json}}`],
  ["AG-UI", "/v1/ag-ui/x", (json: string) => `{"threadId":"t","runId":"r","state":${json}}`],
])("a body that is nested too deep is refused: %s", async (_, path, print) => {
  const service = await startService({ agentPresets: ['x={"model":"demo"}'] });
  for (const depth of [101, 100_000]) {
    const [code, text] = await post(service, path, print(nestedIn(depth)));
    expect([code, text]).toEqual([400, expect.stringContaining("nested deeper than 100 levels")]);
  }
});

/** Stands still for the rate limit. */
const stillClock = { ...systemClock, monotonicMs: () => 0 };

describe("a large body counts as several calls", () => {
  const megabyte = `{"message":"x","zzz":"${"y".repeat(1_048_576)}"}`;
  /** 9 times 256 KiB, and 11 times 4,096 values. */
  const compressed = Buffer.concat([
    emptyMessages(46_000),
    Buffer.from([0x7a, 0x80, 0x80, 0x80, 0x01]),
    Buffer.alloc(2_097_152),
  ]);
  const protobuf = { "content-type": "application/proto", "content-encoding": "gzip" };
  const flags = { rateLimitRps: 20, rateLimitBurst: 40 };

  test.each([
    ["by its bytes", `{"message":"x","zzz":"${"y".repeat(5 * 1_048_576)}"}`],
    ["by its values", `{"message":"x","zzz":${listOf(80_000)}}`],
    ["by its values, as text", `{"message":"x","zzz":${listOf(80_000)}}`, { "content-type": "text/plain" }],
    ["by its bytes and values, compressed", gzipSync(compressed), protobuf],
  ])("%s", async (_, body, headers: Readonly<Record<string, string>> = {}) => {
    const service = await startService(flags, { clock: stillClock });
    const path = headers === protobuf ? sendMessage : "/v1/sessions/none/messages";
    const statuses: number[] = [(await post(service, path, body, headers))[0]];
    for (let count = 0; count < 25; count += 1) {
      statuses.push((await post(service, "/v1/sessions/none/messages", "{}"))[0]);
    }
    // 40 calls: the large one counts as 20 or 21.
    const refused = statuses.indexOf(429);
    expect([20, 21]).toContain(refused);
    const others = await fetch(`${service.url}/v1/sessions`, { headers: credentialsOf("stranger") });
    expect(others.status).toBe(200);
  });

  test("it waits until the rate permits it", async () => {
    const waits: number[] = [];
    const sleep = (delayMs: number, signal?: AbortSignal): Promise<void> => {
      waits.push(delayMs);
      return systemClock.sleep(delayMs, signal);
    };
    const service = await startService({ rateLimitRps: 24, rateLimitBurst: 2 }, { clock: { ...stillClock, sleep } });
    expect((await post(service, "/v1/sessions/none/messages", megabyte))[0]).toBe(404);
    // One call for the request and four for its bytes: three more than the bucket has.
    expect(waits).toContain(125);
  });

  test("it is refused when the rate would permit it too late, and the answer says when it would", async () => {
    const service = await startService({ rateLimitRps: 0.25, rateLimitBurst: 2 }, { clock: stillClock });
    await post(service, "/v1/sessions/none/messages", "{}");
    const refused = await fetch(`${service.url}/v1/sessions/none/messages`, {
      method: "POST",
      headers: { ...credentialsOf(), "content-type": "application/json" },
      body: megabyte,
    });
    expect([refused.status, await refused.text()]).toEqual([429, '{"error":"rate limit exceeded"}']);
    // Three more calls would take 12 seconds and may take 10; the same request takes one for itself first.
    expect(refused.headers.get("retry-after")).toBe("6");
  });
});

test("the memory of a body that waits for the rate goes to others when they need it, and its sender gets 503", async () => {
  const large = `{"message":"x","zzz":"${"y".repeat(10_400_000)}"}`;
  const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
  const sleep = (delayMs: number, signal?: AbortSignal): Promise<void> => {
    // 39 calls for its bytes and one for the request: 30 more than the bucket has.
    if (delayMs === 7_500) {
      resolve();
    }
    return systemClock.sleep(delayMs, signal);
  };
  const flags = { rateLimitRps: 4, rateLimitBurst: 10 };
  const service = await startService(flags, { clock: { ...stillClock, sleep } });
  const url = `${service.url}/v1/sessions/none/messages`;
  const waiting = post(service, "/v1/sessions/none/messages", large);
  await isWaiting;
  for (let count = 0; count < 6; count += 1) {
    const headers = {
      ...credentialsOf("stranger"),
      "content-type": "application/json",
      "content-length": large.length,
    };
    const stalled = request(url, { method: "POST", headers }).on("error", () => {});
    onTestFinished(() => void stalled.destroy());
    stalled.write(large.slice(1));
  }
  expect(await waiting).toEqual([503, expect.stringContaining("too many large requests at once")]);
});
