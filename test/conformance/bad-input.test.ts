// Bad input of every kind: it gets an error that names the field and the fix, stores nothing, reveals nothing about the
// service's internals, and the service continues to work.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished } from "vitest";
import { CreateSessionRequestSchema, SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query } from "../harness/database.ts";
import { startService, type TestService } from "../harness/service.ts";
import { callRaw, frame, type RawEnd } from "./grpc-frames.ts";
import { connectGrpc } from "./grpc-surface.ts";
import { readSession } from "./stage.ts";
import { Refused, type Surface } from "./surface.ts";
import { surfaces } from "./surfaces.ts";

/** Words of a database, a stack or a source tree: no answer may contain them. */
const internals =
  /\bselect \b|\binsert into\b|postgres|relation "|constraint|node_modules|\/src\/|\.ts\b|\n\s+at |TypeError|undefined|\[object/i;

const tables = ["session", "run", "run_result", "transcript", "checkpoint", "tool_call", "idempotency"];

async function countRows(service: TestService): Promise<unknown> {
  const counts = tables.map((table) => `(select count(*) from ${table}) as ${table}`);
  return (await query(service.databaseUrl, `select ${counts.join(", ")}`))[0];
}

async function refusalOf(call: Promise<unknown>): Promise<Refused> {
  const error = await call.then(
    () => new Error("the call should have been refused"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof Refused)) {
    throw error;
  }
  expect(error.message).not.toMatch(internals);
  expect(error.message.length).toBeLessThan(1_100);
  return error;
}

/** Creates a valid session, and counts the rows that exist then. */
async function setUp(connect: (service: TestService) => Surface) {
  const service = await startService();
  const api = connect(service);
  await api.createSession({ sessionId: "good", agent: { name: "good" } });
  // A session without a run accepts any position, so this one has a run.
  await api.createSession({ sessionId: "ran", agent: { name: "ran", model: "demo" } });
  await api.sendMessage({ sessionId: "ran", message: "hello pace=0" });
  await readSession(api, "ran");
  return { service, api, before: await countRows(service) };
}

type Call = (api: Surface) => Promise<unknown>;

/** The fault, the call, the field that the error names, and its text. A call without a field gets NOT_FOUND. */
type BadCall = readonly [what: string, call: Call, field: string | undefined, text: RegExp];

const runId = "01900000-0000-7000-8000-000000000000";
const agent = { name: "a" };
const long = (bytes: number) => "x".repeat(bytes);
const emoji = "\u{1f600}".repeat(1_000);

type Creation = Parameters<Surface["createSession"]>[0];

function creation(what: string, request: Creation, field: string, text: RegExp): BadCall {
  return [what, (api) => api.createSession(request), field, text];
}

function workDirs(dirs: readonly string[], text: RegExp): BadCall[] {
  return dirs.map((workDir) =>
    creation(`the work_dir ${JSON.stringify(workDir.slice(0, 20))}`, { workDir, agent }, "work_dir", text),
  );
}

/** Each of these calls with each of the values. */
function each<T>(
  values: readonly T[],
  calls: Readonly<Record<string, (api: Surface, value: T) => Promise<unknown>>>,
  field: string | undefined,
  text: RegExp,
): BadCall[] {
  return values.flatMap((value) =>
    Object.entries(calls).map(([name, call]): BadCall => {
      const shown = String(value);
      const what = `${name} with ${JSON.stringify(shown.slice(0, 8))} of ${shown.length} characters`;
      return [what, (api) => call(api, value), field, text];
    }),
  );
}

const sessionCalls: Record<string, (api: Surface, sessionId: string) => Promise<unknown>> = {
  GetSession: (api, sessionId) => api.getSession(sessionId),
  DeleteSession: (api, sessionId) => api.deleteSession(sessionId),
  SendMessage: (api, sessionId) => api.sendMessage({ sessionId, message: "go" }),
  StreamSession: (api, sessionId) => readSession(api, sessionId),
};
const runCalls: Record<string, (api: Surface, runId: string) => Promise<unknown>> = {
  GetRun: (api, id) => api.getRun(id),
  CancelRun: (api, id) => api.cancelRun(id),
  ListRunResults: (api, id) => api.listResults({ runId: id }),
  TailRun: (api, id) => Array.fromAsync(api.followRun(id)),
};
const pageSizeCalls: Record<string, (api: Surface, pageSize: number) => Promise<unknown>> = {
  ListSessions: (api, pageSize) => api.listSessions({ pageSize }),
  ListRuns: (api, pageSize) => api.listRuns({ pageSize }),
  ListRunResults: (api, pageSize) => api.listResults({ runId, pageSize }),
};
const pageTokenCalls: Record<string, (api: Surface, pageToken: string) => Promise<unknown>> = {
  ListSessions: (api, pageToken) => api.listSessions({ pageToken }),
  ListRuns: (api, pageToken) => api.listRuns({ pageToken }),
};
const followSession = { StreamSession: (api: Surface, after: string) => readSession(api, "ran", after) };
const followRun = { TailRun: (api: Surface, after: number) => Array.fromAsync(api.followRun(runId, after)) };
const sendGood = (message: string, requestId?: string) => (api: Surface) =>
  api.sendMessage({ sessionId: "good", message, ...(requestId !== undefined && { requestId }) });

const badCalls: readonly BadCall[] = [
  creation("no agent", {}, "agent.name", /^agent.name is required$/),
  creation("an agent without a name", { agent: { model: "demo" } }, "agent.name", /^agent.name is required$/),
  ...each(
    ["a b", "a/b", "ä", long(129), "a\0b", "a\nb"],
    { CreateSession: (api, sessionId) => api.createSession({ sessionId, agent }) },
    "session_id",
    /^invalid session_id: must be 1-128 alphanumeric\/dash\/underscore characters$/,
  ),
  ...workDirs(["relative", "./", "a\0b", "/tmp\0"], /^invalid work_dir: must be an absolute path$/),
  ...workDirs(["/dev/null"], /^invalid work_dir: not a directory$/),
  ...workDirs(
    ["/no/such/directory"],
    /^invalid work_dir: not accessible: stat \/no\/such\/directory: no such file or directory$/,
  ),
  ...workDirs(
    ["/", "/etc", "/proc/self/root", "/usr/bin/../lib"],
    /^invalid work_dir: not permitted: \S+ belongs to the system; name another directory, or leave work_dir out to get a new one$/,
  ),
  ...workDirs(
    [resolve("."), resolve("./src")],
    /^invalid work_dir: not permitted: \S+ belongs to the service; name another directory/,
  ),
  ...workDirs([`/${emoji}`, `/x${emoji}`], /^invalid work_dir: not accessible: stat \//),
  ...workDirs([`/${long(4_096)}`], /^invalid work_dir: .*4096 bytes/),
  creation("a long name", { agent: { name: long(257) } }, "agent.name", /^invalid agent\.name: .*256 bytes/),
  creation(
    "a long model",
    { agent: { name: "a", model: long(257) } },
    "agent.model",
    /^invalid agent\.model: .*256 bytes/,
  ),
  creation(
    "a long system prompt",
    { agent: { name: "a", systemPrompt: long(1_048_577) } },
    "agent.system_prompt",
    /^invalid agent\.system_prompt: .*1048576 bytes/,
  ),
  creation(
    "too many tools",
    { agent: { name: "a", tools: { builtin: Array(65).fill("list_dir") } } },
    "agent.tools.builtin",
    /^invalid agent\.tools\.builtin: .*64 item/,
  ),
  creation(
    "a long name of a tool",
    { agent: { name: "a", tools: { builtin: ["list_dir", long(129)] } } },
    "agent.tools.builtin[1]",
    /^invalid agent\.tools\.builtin\[1\]: .*128 bytes/,
  ),
  creation("a long request id", { agent, requestId: long(129) }, "request_id", /^invalid request_id: .*128 bytes/),
  creation("a NUL in a request id", { agent, requestId: "a\0b" }, "request_id", /request_id/),
  ["a NUL in the request id of a message", sendGood("go", "a\0b"), "request_id", /request_id/],
  ["an empty message", sendGood(""), "message", /^message is required$/],
  ["a long message", sendGood(long(4_000_001)), "message", /^invalid message: .*4000000 bytes/],
  ...each(["unknown", "a\0b", "é", long(10_000)], sessionCalls, undefined, /^session not found$/),
  ...each(
    ["nonsense", "-1", "1.5", `${runId}.`, `${runId}.-1`, "9".repeat(16), `no-run.1`],
    followSession,
    "after",
    /^invalid after: /,
  ),
  ...each([`${runId}.1`], followSession, "after", /^invalid after: run .* does not belong to this session$/),
  ...each([long(129)], followSession, "after", /^invalid after: .*128 bytes/),
  ...each(["nonsense", "a\0b", long(36), `${runId}\0`], runCalls, "run_id", /^invalid run_id: .*UUID/),
  ["a run that does not exist", (api) => api.getRun(runId), undefined, /^run not found$/],
  ...each([-1], followRun, "after", /^invalid after: .*0/),
  ...each([2 ** 60], followRun, "after", /^invalid after: .*9007199254740991/),
  ...each([-1, 251, 2_147_483_647], pageSizeCalls, "page_size", /^invalid page_size: .*250/),
  ...each(
    ["nonsense", "a\0b", "é", "AAAA".repeat(10)],
    pageTokenCalls,
    "page_token",
    /^page_token was not made for this list: start without one$/,
  ),
  [
    "a long page token",
    (api) => api.listSessions({ pageToken: long(1_025) }),
    "page_token",
    /^invalid page_token: .*1024 bytes/,
  ],
];

describe.each(surfaces)("over $name", ({ connect }) => {
  test("every invalid call names its field and changes nothing", async () => {
    const { service, api, before } = await setUp(connect);
    for (const [what, call, field, text] of badCalls) {
      const error = await refusalOf(call(api)).catch((cause: unknown) => {
        throw new Error(`${what}: ${String(cause)}`, { cause });
      });
      expect.soft(error.message, what).toMatch(text);
      const [grpcCode, httpStatus] = field === undefined ? ["NOT_FOUND", 404] : ["INVALID_ARGUMENT", 400];
      expect
        .soft(error.grpcCode ?? error.httpStatus, what)
        .toBe(error.httpStatus === undefined ? grpcCode : httpStatus);
      // The documented session routes send only a text.
      if (error.reason !== undefined && field !== undefined) {
        expect.soft(error.violations, what).toContainEqual(expect.objectContaining({ field }));
        expect.soft(error.violations, what).not.toContainEqual(expect.objectContaining({ description: "" }));
      }
    }
    expect(await countRows(service)).toEqual(before);
    expect(await api.getSession("good")).toMatchObject({ status: "created" });
  });

  const badAgents = [
    ["an unknown model", { model: "llama" }, /unsupported model "llama": expected prefix/],
    ["a model with a NUL", { model: "a\0b" }, /unsupported model "a\\u0000b"/],
    ["a provider without a key", { model: "gpt-4" }, /OpenAI API key not configured for model gpt-4/],
    ["a temperature above 2", { temperature: 2.1 }, /between 0 and 2, got 2\.100000$/],
    ["a temperature below 0", { temperature: -0.1 }, /between 0 and 2, got -0\.100000$/],
    ["an unknown tool", { tools: { builtin: ["zap"] } }, /unknown builtin tool: zap$/],
    ["a tool twice", { tools: { builtin: ["list_dir", "list_dir"] } }, /already registered: list_dir$/],
  ] as const satisfies readonly (readonly [string, object, RegExp])[];
  test("a session with an invalid agent is refused when a message is sent, and no run starts", async () => {
    const { service, api } = await setUp(connect);
    for (const [index, [, bad]] of badAgents.entries()) {
      await api.createSession({ sessionId: `bad-${index}`, agent: { name: "a", ...(bad as object) } });
    }
    const before = await countRows(service);
    for (const [index, [what, , text]] of badAgents.entries()) {
      const error = await refusalOf(api.sendMessage({ sessionId: `bad-${index}`, message: "go", requestId: "r" }));
      expect.soft(error.message, what).toMatch(text);
      expect.soft(error.grpcCode ?? error.httpStatus, what).toBe(error.httpStatus ?? "INVALID_ARGUMENT");
      expect.soft(error.httpStatus ?? 400, what).toBe(400);
    }
    expect(await countRows(service)).toEqual(before);
  });

  test("texts with NULs and other odd characters are accepted and returned unchanged, except in ids", async () => {
    const { api } = await setUp(connect);
    const odd = "a\0b\u0001\u2028\u{1f600}\ufeff";
    const { session_id: sessionId } = await api.createSession({
      agent: { name: odd, model: "demo", systemPrompt: odd },
    });
    expect(await api.getSession(sessionId)).toMatchObject({ name: odd });
    await api.sendMessage({ sessionId, message: `${odd} pace=0` });
    expect((await readSession(api, sessionId)).at(-1)?.payload).toMatchObject({ status: "completed" });
    expect(await api.listRuns({ sessionId: "a\0b" })).toEqual({ runs: [] });
  });
});

describe("over plain HTTP", () => {
  /** The fault, the request, its status and the text of the error or, of 405, the `allow` header. */
  type BadRequest = readonly [what: string, path: string, init: RequestInit, status: number, text: RegExp | string];

  const asJson = { "content-type": "application/json" };
  const cancelPath = `/v1/runs/${runId}:cancel`;
  const creation = (what: string, body: NonNullable<RequestInit["body"]>, text: RegExp): BadRequest => [
    what,
    "/v1/sessions",
    { method: "POST", body },
    400,
    text,
  ];
  const cancel = (what: string, body: NonNullable<RequestInit["body"]>, text: RegExp): BadRequest => [
    what,
    cancelPath,
    { method: "POST", body, headers: asJson },
    400,
    text,
  ];
  const withAgent = (fields: string): string => `{"agent":{"name":"a",${fields}}}`;
  const compressed = { method: "POST", body: "x", headers: { "content-encoding": "gzip" } };
  const plain = { method: "POST", body: "{}", headers: { "content-type": "text/plain" } };
  const notUtf8 = ['{"agent":{"name":"a"},"session_id":"', Uint8Array.of(0xff), '"}'].map((each) => Buffer.from(each));
  const badRequests: readonly BadRequest[] = [
    ...["", "{", '{"agent":', "nul", "\0", '{"agent":{"name":"a"}', "'x'", "NaN"].map((body) =>
      creation(`the body ${JSON.stringify(body)}`, body, /^invalid request body: /),
    ),
    creation("a list as body", "[]", /^invalid request body: expected an object/),
    creation(
      "a number as name",
      '{"agent":{"name":1}}',
      /^invalid request body: agent\.name: expected a string, got 1$/,
    ),
    creation("a text as agent", '{"agent":"a"}', /^invalid request body: agent: expected an object, got "a"$/),
    creation(
      "a fraction",
      withAgent('"max_turns":1.5'),
      /^invalid request body: agent\.max_turns: expected .*, got 1\.5$/,
    ),
    creation("a huge number", withAgent('"max_turns":1e99'), /^invalid request body: agent\.max_turns: expected /),
    creation(
      "an object as list",
      withAgent('"tools":{"builtin":{}}'),
      /^invalid request body: agent\.tools\.builtin: expected a list/,
    ),
    creation("JSON that is nested without end", `{"agent":${"[".repeat(100_000)}`, /^invalid request body: /),
    creation("a lone surrogate", '{"session_id":"\\ud800","agent":{"name":"a"}}', /^invalid session_id: /),
    creation("an id that is not UTF-8", Buffer.concat(notUtf8), /^invalid session_id: /),
    ["a compressed body", "/v1/sessions", compressed, 415, /^content-encoding must be identity/],
    ["a content type that is no JSON", cancelPath, plain, 415, /^content-type must be application\/json$/],
    cancel("an unknown key", '{"force":true}', /^invalid request body: force: unknown key$/),
    cancel("bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), /^invalid request body: not UTF-8$/),
    ["an unknown query key", "/v1/runs?color=red", {}, 400, /"color" is unknown$/],
    ["a query key twice", "/v1/runs?page_size=1&page_size=2", {}, 400, /"page_size" is given twice$/],
    ["a page size that is no number", "/v1/runs?page_size=ten", {}, 400, /"page_size" must be /],
    ["a broken escape in the query", "/v1/runs?page_token=%ff", {}, 400, /^invalid query: /],
    ["a broken escape in the path", "/v1/sessions/%ff", {}, 400, /path|session_id/],
    [
      "a Last-Event-ID that is no number",
      `/v1/runs/${runId}/results:tail`,
      { headers: { "last-event-id": "soon" } },
      400,
      /^invalid Last-Event-ID: must be /,
    ],
    ["a NUL in a position", "/v1/sessions/good/stream?after=1%00", {}, 400, /^invalid after: /],
    ...["/", "/v1", "/v1/", "/v2/sessions", "/v1/sessions/a/b", "/v1/sessions/good/", "/runnel.v1.RunService/Nope"].map(
      (path): BadRequest => [`the path ${path}`, path, {}, 404, /^404 page not found\n$/],
    ),
    ["PUT of a session", "/v1/sessions/good", { method: "PUT" }, 405, "GET, DELETE, PATCH"],
    ["GET of messages", "/v1/sessions/good/messages", {}, 405, "POST"],
    ["PUT of a run", `/v1/runs/${runId}`, { method: "PUT" }, 405, "GET, DELETE"],
    ["GET of a cancel", cancelPath, {}, 405, "POST"],
  ];

  test("every invalid request gets an error that names the problem, and changes nothing", async () => {
    const { service, before } = await setUp((each) => connectGrpc(each.target, credentialsOf()));
    for (const [what, path, { headers, ...init }, expected, text] of badRequests) {
      const response = await fetch(`${service.url}${path}`, { ...init, headers: { ...credentialsOf(), ...headers } });
      const answer = await response.text();
      expect.soft(response.status, what).toBe(expected);
      expect.soft(response.headers.get("allow"), what).toBe(typeof text === "string" ? text : null);
      // Without a route there is no format of errors: these are the texts of the Agent Runner document's own service.
      const isJson = expected !== 404 && expected !== 405;
      expect.soft(response.headers.get("content-type") === "application/json", what).toBe(isJson);
      expect.soft(isJson ? JSON.parse(answer).error : answer, what).toMatch(typeof text === "string" ? /^$/ : text);
      expect.soft(answer, what).not.toMatch(internals);
    }
    expect(await countRows(service)).toEqual(before);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  });

  test("a lone surrogate in a text becomes a replacement character", async ({ service }) => {
    const body = '{"session_id":"odd","agent":{"name":"a\\ud800b"}}';
    expect((await fetch(`${service.url}/v1/sessions`, { method: "POST", headers: credentialsOf(), body })).status).toBe(
      201,
    );
    const shown = await (await fetch(`${service.url}/v1/sessions/odd`, { headers: credentialsOf() })).json();
    expect(shown).toMatchObject({ name: "a\ufffdb" });
  });

  test("a work_dir may have all characters of a path", async ({ service }) => {
    const workDir = await mkdtemp(join(tmpdir(), "runnel ä\u{1f600}'\"$(x)-"));
    onTestFinished(() => rm(workDir, { recursive: true }));
    const body = JSON.stringify({ work_dir: workDir, agent });
    expect((await fetch(`${service.url}/v1/sessions`, { method: "POST", headers: credentialsOf(), body })).status).toBe(
      201,
    );
  });
});

describe("over gRPC frames", () => {
  const createPath = "/runnel.v1.SessionService/CreateSession";
  const tailPath = "/runnel.v1.RunService/TailRun";
  const good = Buffer.from(toBinary(CreateSessionRequestSchema, create(CreateSessionRequestSchema, { agent })));
  /** Field 1, a string of one byte that is not UTF-8. */
  const notUtf8 = Buffer.from([0x0a, 0x01, 0xff]);

  interface BadFrames {
    readonly what: string;
    readonly path?: string;
    readonly body: Uint8Array;
    readonly headers?: Record<string, string>;
    readonly ends: readonly number[];
  }

  const { INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED } = status;
  const badFrames: readonly BadFrames[] = [
    { what: "no frame", body: Buffer.alloc(0), ends: [INVALID_ARGUMENT, UNIMPLEMENTED] },
    { what: "half a prefix", body: Buffer.alloc(3), ends: [INVALID_ARGUMENT] },
    { what: "half a message", body: frame(good, { claimedBytes: good.length + 10 }), ends: [INVALID_ARGUMENT] },
    { what: "two messages", body: Buffer.concat([frame(good), frame(good)]), ends: [INVALID_ARGUMENT, UNIMPLEMENTED] },
    { what: "bytes that are no message", body: frame(Buffer.from([0xff, 0xff, 0xff])), ends: [INVALID_ARGUMENT] },
    { what: "a group that never ends", body: frame(Buffer.alloc(10_000, 0x0b)), ends: [INVALID_ARGUMENT] },
    { what: "a text that is not UTF-8", body: frame(notUtf8), ends: [INVALID_ARGUMENT] },
    { what: "compression without its name", body: frame(good, { flag: 1 }), ends: [INVALID_ARGUMENT] },
    {
      what: "compressed garbage",
      body: frame(Buffer.from("no gzip at all"), { flag: 1 }),
      headers: { "grpc-encoding": "gzip" },
      ends: [INVALID_ARGUMENT],
    },
    {
      what: "an unknown compression",
      body: frame(good, { flag: 1 }),
      headers: { "grpc-encoding": "zstd" },
      ends: [UNIMPLEMENTED],
    },
    {
      what: "a deadline that is no time",
      body: frame(good),
      headers: { "grpc-timeout": "soon" },
      ends: [INVALID_ARGUMENT],
    },
    {
      what: "a message over 4 MiB",
      body: frame(Buffer.alloc(4_194_305)),
      ends: [RESOURCE_EXHAUSTED],
    },
    {
      what: "a message that claims 4 GiB",
      body: frame(good, { claimedBytes: 0xffff_ffff }),
      ends: [RESOURCE_EXHAUSTED, INVALID_ARGUMENT],
    },
    { what: "a stream's request that is no message", path: tailPath, body: frame(notUtf8), ends: [INVALID_ARGUMENT] },
    { what: "no request of a stream", path: tailPath, body: Buffer.alloc(0), ends: [INVALID_ARGUMENT, UNIMPLEMENTED] },
  ];

  test("every unreadable request ends at once with a status, and changes nothing", async ({ service }) => {
    const before = await countRows(service);
    for (const { what, path = createPath, body, headers = {}, ends } of badFrames) {
      const end = await callRaw(service.url, path, body, headers);
      expect.soft(ends, `${what}: ${describeEnd(end)}`).toContain(end.grpcStatus);
      expect.soft(end.message, what).not.toMatch(internals);
      expect.soft(end.message, what).not.toBe("");
    }
    expect(await countRows(service)).toEqual(before);
    expect((await callRaw(service.url, createPath, frame(good))).grpcStatus).toBe(status.OK);
  });

  test("the reference client gets RESOURCE_EXHAUSTED for a message over 4 MiB", async ({ service }) => {
    const call = connectGrpc(service.target, credentialsOf()).createSession({
      agent: { name: "a".repeat(5 * 1_048_576) },
    });
    expect((await refusalOf(call)).grpcCode).toBe("RESOURCE_EXHAUSTED");
  });

  test("unknown methods and services are unimplemented", async ({ service }) => {
    for (const path of ["/runnel.v1.RunService/Nope", "/no.such.Service/Call", "/"]) {
      const end = await callRaw(service.url, path, frame(good));
      expect(end.grpcStatus ?? end.httpStatus, path).toSatisfy((found: number) => [UNIMPLEMENTED, 404].includes(found));
    }
  });

  test("unknown fields are ignored", async ({ service }) => {
    // Field 1000, a string.
    const unknown = Buffer.concat([good, Buffer.from([0xc2, 0x3e, 0x01, 0x78])]);
    expect((await callRaw(service.url, createPath, frame(unknown))).grpcStatus).toBe(status.OK);
  });

  test("the largest message within the maximum is accepted", async ({ service }) => {
    await callRaw(service.url, createPath, frame(createRequest("big")));
    const request = create(SendMessageRequestSchema, { sessionId: "big", message: "x".repeat(4_000_000) });
    const end = await callRaw(
      service.url,
      "/runnel.v1.SessionService/SendMessage",
      frame(toBinary(SendMessageRequestSchema, request)),
    );
    expect(end.grpcStatus).toBe(status.OK);
  });
});

function createRequest(sessionId: string): Uint8Array {
  return toBinary(CreateSessionRequestSchema, create(CreateSessionRequestSchema, { sessionId, agent }));
}

function describeEnd({ httpStatus, grpcStatus, message }: RawEnd): string {
  return `HTTP ${httpStatus}, gRPC ${grpcStatus}, "${message}"`;
}
