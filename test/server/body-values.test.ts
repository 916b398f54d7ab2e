// Bodies with many or deep values: every surface refuses them before it builds anything, and large bodies count as several calls.

import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { describe, expect, test } from "vitest";
import { SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { systemClock } from "../../src/platform/base/clock.ts";
import { callRaw, frame } from "../conformance/grpc-frames.ts";
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

  test.each([
    ["gRPC", 0, {}],
    ["gRPC, compressed", 1, { "grpc-encoding": "gzip" }],
  ])("%s", async (_, flag, headers) => {
    const service = await startService();
    const message = emptyMessages(valuesMax + 1);
    const body = frame(flag === 1 ? gzipSync(message) : message, { flag });
    const end = await callRaw(service.url, sendMessage, body, headers);
    expect(end).toMatchObject({ grpcStatus: status.INVALID_ARGUMENT, message: expect.stringContaining(tooMany) });
  });
});

test("a body with as many values as permitted is read", async () => {
  const service = await startService();
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

describe("a large body counts as several calls", () => {
  const megabyte = `{"message":"x","zzz":"${"y".repeat(1_048_576)}"}`;
  const flags = { rateLimitRps: 20, rateLimitBurst: 40 };
  /** Stands still for the rate limit. */
  const stillClock = { ...systemClock, monotonicMs: () => 0 };

  test.each([
    ["by its bytes", `{"message":"x","zzz":"${"y".repeat(5 * 1_048_576)}"}`],
    ["by its values", `{"message":"x","zzz":${listOf(80_000)}}`],
  ])("%s", async (_, body) => {
    const service = await startService(flags, { clock: stillClock });
    const statuses: number[] = [];
    for (let count = 0; count < 25; count += 1) {
      statuses.push((await post(service, "/v1/sessions/none/messages", count === 0 ? body : "{}"))[0]);
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

  test("it is refused when the rate would permit it too late", async () => {
    const service = await startService({ rateLimitRps: 0.25, rateLimitBurst: 2 }, { clock: stillClock });
    expect(await post(service, "/v1/sessions/none/messages", megabyte)).toEqual([
      429,
      '{"error":"rate limit exceeded"}',
    ]);
  });
});
