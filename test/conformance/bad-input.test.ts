// Bad input of every kind: it gets an error that names the field and the fix, stores nothing, reveals nothing about the
// service's internals, and the service continues to work.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { CreateSessionRequestSchema, SendMessageRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
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

interface BadCall {
  readonly what: string;
  readonly call: (api: Surface) => Promise<unknown>;
  /** The field that the error names. */
  readonly field?: string;
  readonly text: RegExp;
  readonly grpcCode?: string;
  readonly httpStatus?: number;
}

const runId = "01900000-0000-7000-8000-000000000000";
const agent = { name: "a" };
const long = (bytes: number) => "x".repeat(bytes);
const emoji = "\u{1f600}".repeat(1_000);
const notFound = { grpcCode: "NOT_FOUND", httpStatus: 404 };

const badCalls: readonly BadCall[] = [
  {
    what: "no agent",
    call: (api) => api.createSession({}),
    field: "agent.name",
    text: /^agent.name is required$/,
  },
  {
    what: "an agent without a name",
    call: (api) => api.createSession({ agent: { model: "demo" } }),
    field: "agent.name",
    text: /^agent.name is required$/,
  },
  ...["a b", "a/b", "ä", long(129), "a\0b", "a\nb"].map((sessionId) => ({
    what: `the session id ${JSON.stringify(sessionId.slice(0, 5))} of ${sessionId.length} characters`,
    call: (api: Surface) => api.createSession({ sessionId, agent }),
    field: "session_id",
    text: /^invalid session_id: must be 1-128 alphanumeric\/dash\/underscore characters$/,
  })),
  ...["relative", "./", "", "a\0b", "/tmp\0"]
    .filter((workDir) => workDir !== "")
    .map((workDir) => ({
      what: `the work_dir ${JSON.stringify(workDir)}`,
      call: (api: Surface) => api.createSession({ workDir, agent }),
      field: "work_dir",
      text: /^invalid work_dir: must be an absolute path$/,
    })),
  {
    what: "a work_dir that is no directory",
    call: (api) => api.createSession({ workDir: "/dev/null", agent }),
    field: "work_dir",
    text: /^invalid work_dir: not a directory$/,
  },
  {
    what: "a work_dir that does not exist",
    call: (api) => api.createSession({ workDir: "/no/such/directory", agent }),
    field: "work_dir",
    text: /^invalid work_dir: not accessible: stat \/no\/such\/directory: no such file or directory$/,
  },
  ...["/", "/etc", "/proc/self/root", "/usr/bin/../lib"].map((workDir) => ({
    what: `the work_dir ${workDir}`,
    call: (api: Surface) => api.createSession({ workDir, agent }),
    field: "work_dir",
    text: /^invalid work_dir: not permitted: \S+ belongs to the system; name another directory, or leave work_dir out to get a new one$/,
  })),
  ...[".", "./src"].map((name) => ({
    what: `the program's ${name} as work_dir`,
    call: (api: Surface) => api.createSession({ workDir: resolve(name), agent }),
    field: "work_dir",
    text: /^invalid work_dir: not permitted: \S+ belongs to the service; name another directory/,
  })),
  ...["", "x"].map((shift) => ({
    what: `a work_dir of a thousand emoji after ${shift.length} letters`,
    call: (api: Surface) => api.createSession({ workDir: `/${shift}${emoji}`, agent }),
    field: "work_dir",
    text: /^invalid work_dir: not accessible: stat \//,
  })),
  {
    what: "a work_dir that is too long",
    call: (api) => api.createSession({ workDir: `/${long(4_096)}`, agent }),
    field: "work_dir",
    text: /^invalid work_dir: .*4096 bytes/,
  },
  {
    what: "an agent's name that is too long",
    call: (api) => api.createSession({ agent: { name: long(257) } }),
    field: "agent.name",
    text: /^invalid agent\.name: .*256 bytes/,
  },
  {
    what: "a model's name that is too long",
    call: (api) => api.createSession({ agent: { name: "a", model: long(257) } }),
    field: "agent.model",
    text: /^invalid agent\.model: .*256 bytes/,
  },
  {
    what: "a system prompt that is too long",
    call: (api) => api.createSession({ agent: { name: "a", systemPrompt: long(1_048_577) } }),
    field: "agent.system_prompt",
    text: /^invalid agent\.system_prompt: .*1048576 bytes/,
  },
  {
    what: "too many tools",
    call: (api) => api.createSession({ agent: { name: "a", tools: { builtin: Array(65).fill("list_dir") } } }),
    field: "agent.tools.builtin",
    text: /^invalid agent\.tools\.builtin: .*64 item/,
  },
  {
    what: "a tool's name that is too long",
    call: (api) => api.createSession({ agent: { name: "a", tools: { builtin: ["list_dir", long(129)] } } }),
    field: "agent.tools.builtin[1]",
    text: /^invalid agent\.tools\.builtin\[1\]: .*128 bytes/,
  },
  {
    what: "a request id that is too long",
    call: (api) => api.createSession({ agent, requestId: long(129) }),
    field: "request_id",
    text: /^invalid request_id: .*128 bytes/,
  },
  {
    what: "a NUL in the request id of a session",
    call: (api) => api.createSession({ agent, requestId: "a\0b" }),
    field: "request_id",
    text: /request_id/,
  },
  {
    what: "a NUL in the request id of a message",
    call: (api) => api.sendMessage({ sessionId: "good", message: "go", requestId: "a\0b" }),
    field: "request_id",
    text: /request_id/,
  },
  {
    what: "an empty message",
    call: (api) => api.sendMessage({ sessionId: "good", message: "" }),
    field: "message",
    text: /^message is required$/,
  },
  {
    what: "a message that is too long",
    call: (api) => api.sendMessage({ sessionId: "good", message: long(4_000_001) }),
    field: "message",
    text: /^invalid message: .*4000000 bytes/,
  },
  ...["unknown", "a\0b", "é", long(10_000)].flatMap((sessionId) => {
    const what = `an id like ${JSON.stringify(sessionId.slice(0, 8))} of ${sessionId.length} characters`;
    const calls: Record<string, (api: Surface) => Promise<unknown>> = {
      GetSession: (api) => api.getSession(sessionId),
      DeleteSession: (api) => api.deleteSession(sessionId),
      SendMessage: (api) => api.sendMessage({ sessionId, message: "go" }),
      StreamSession: (api) => readSession(api, sessionId),
    };
    return Object.entries(calls).map(([name, call]) => ({
      what: `${name} of ${what}`,
      call,
      text: /^session not found$/,
      ...notFound,
    }));
  }),
  ...["nonsense", "-1", "1.5", `${runId}.`, `${runId}.-1`, "9".repeat(16), `no-run.1`].map((after) => ({
    what: `following a session after ${JSON.stringify(after)}`,
    call: (api: Surface) => readSession(api, "ran", after),
    field: "after",
    text: /^invalid after: /,
  })),
  {
    what: "following a session after an event of another one",
    call: (api) => readSession(api, "ran", `${runId}.1`),
    field: "after",
    text: /^invalid after: run .* does not belong to this session$/,
  },
  {
    what: "following a session after a text that is too long",
    call: (api) => readSession(api, "ran", long(129)),
    field: "after",
    text: /^invalid after: .*128 bytes/,
  },
  ...["nonsense", "a\0b", long(36), `${runId}\0`].flatMap((id) => {
    const calls: Record<string, (api: Surface) => Promise<unknown>> = {
      GetRun: (api) => api.getRun(id),
      CancelRun: (api) => api.cancelRun(id),
      ListRunResults: (api) => api.listResults({ runId: id }),
      TailRun: (api) => Array.fromAsync(api.followRun(id)),
    };
    return Object.entries(calls).map(([name, call]) => ({
      what: `${name} of the id ${JSON.stringify(id)}`,
      call,
      field: "run_id",
      text: /^invalid run_id: .*UUID/,
    }));
  }),
  {
    what: "a run that does not exist",
    call: (api) => api.getRun(runId),
    text: /^run not found$/,
    ...notFound,
  },
  {
    what: "a negative position in a run",
    call: (api) => Array.fromAsync(api.followRun(runId, -1)),
    field: "after",
    text: /^invalid after: .*0/,
  },
  {
    what: "a position in a run that no number can hold",
    call: (api) => Array.fromAsync(api.followRun(runId, 2 ** 60)),
    field: "after",
    text: /^invalid after: .*9007199254740991/,
  },
  ...[-1, 251, 2_147_483_647].flatMap((pageSize) => {
    const calls: Record<string, (api: Surface) => Promise<unknown>> = {
      ListSessions: (api) => api.listSessions({ pageSize }),
      ListRuns: (api) => api.listRuns({ pageSize }),
      ListRunResults: (api) => api.listResults({ runId, pageSize }),
    };
    return Object.entries(calls).map(([name, call]) => ({
      what: `a page size of ${pageSize} for ${name}`,
      call,
      field: "page_size",
      text: /^invalid page_size: .*250/,
    }));
  }),
  ...["nonsense", "a\0b", "é", "AAAA".repeat(10)].flatMap((pageToken) => {
    const calls: Record<string, (api: Surface) => Promise<unknown>> = {
      ListSessions: (api) => api.listSessions({ pageToken }),
      ListRuns: (api) => api.listRuns({ pageToken }),
    };
    return Object.entries(calls).map(([name, call]) => ({
      what: `the page token ${JSON.stringify(pageToken)} for ${name}`,
      call,
      field: "page_token",
      text: /^page_token was not made for this list: start without one$/,
    }));
  }),
  {
    what: "a page token that is too long",
    call: (api) => api.listSessions({ pageToken: long(1_025) }),
    field: "page_token",
    text: /^invalid page_token: .*1024 bytes/,
  },
];

describe.each(surfaces)("over $name", ({ connect }) => {
  test("every invalid call names its field and changes nothing", async () => {
    const { service, api, before } = await setUp(connect);
    for (const { what, call, field, text, grpcCode = "INVALID_ARGUMENT", httpStatus = 400 } of badCalls) {
      const error = await refusalOf(call(api)).catch((cause: unknown) => {
        throw new Error(`${what}: ${String(cause)}`, { cause });
      });
      expect.soft(error.message, what).toMatch(text);
      expect
        .soft(error.grpcCode ?? error.httpStatus, what)
        .toBe(error.httpStatus === undefined ? grpcCode : httpStatus);
      // The documented session routes send only a text.
      if (error.reason !== undefined && field !== undefined) {
        expect
          .soft(
            error.violations.map((violation) => violation.field),
            what,
          )
          .toContain(field);
        expect
          .soft(
            error.violations.every(({ description }) => description !== ""),
            what,
          )
          .toBe(true);
      }
    }
    expect(await countRows(service)).toEqual(before);
    expect(await api.getSession("good")).toMatchObject({ status: "created" });
  });

  const badAgents = [
    { what: "an unknown model", agent: { model: "llama" }, text: /unsupported model "llama": expected prefix/ },
    { what: "a model with a NUL", agent: { model: "a\0b" }, text: /unsupported model "a\\u0000b"/ },
    {
      what: "a provider without a key",
      agent: { model: "gpt-4" },
      text: /OpenAI API key not configured for model gpt-4/,
    },
    { what: "a temperature above 2", agent: { temperature: 2.1 }, text: /between 0 and 2, got 2\.100000$/ },
    { what: "a temperature below 0", agent: { temperature: -0.1 }, text: /between 0 and 2, got -0\.100000$/ },
    { what: "an unknown tool", agent: { tools: { builtin: ["zap"] } }, text: /unknown builtin tool: zap$/ },
    {
      what: "a tool twice",
      agent: { tools: { builtin: ["list_dir", "list_dir"] } },
      text: /already registered: list_dir$/,
    },
  ];
  test("a session with an invalid agent is refused when a message is sent, and no run starts", async () => {
    const { service, api } = await setUp(connect);
    for (const [index, { agent: bad }] of badAgents.entries()) {
      await api.createSession({ sessionId: `bad-${index}`, agent: { name: "a", ...bad } });
    }
    const before = await countRows(service);
    for (const [index, { what, text }] of badAgents.entries()) {
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
  interface BadRequest {
    readonly what: string;
    readonly method?: string;
    readonly path?: string;
    readonly body?: string | Uint8Array<ArrayBuffer>;
    readonly headers?: Record<string, string>;
    readonly status: number;
    readonly text: RegExp;
    readonly allow?: string;
  }

  const creation = { method: "POST", path: "/v1/sessions" };
  const cancel = { method: "POST", path: `/v1/runs/${runId}:cancel` };
  const asJson = { "content-type": "application/json" };
  const badRequests: readonly BadRequest[] = [
    ...["", "{", '{"agent":', "nul", "\0", '{"agent":{"name":"a"}', "'x'", "NaN"].map((body) => ({
      ...creation,
      what: `the body ${JSON.stringify(body)}`,
      body,
      status: 400,
      text: /^invalid request body: /,
    })),
    { ...creation, what: "a list as body", body: "[]", status: 400, text: /^invalid request body: expected an object/ },
    {
      ...creation,
      what: "a number as name",
      body: '{"agent":{"name":1}}',
      status: 400,
      text: /^invalid request body: agent\.name: expected a string, got 1$/,
    },
    {
      ...creation,
      what: "a text as agent",
      body: '{"agent":"a"}',
      status: 400,
      text: /^invalid request body: agent: expected an object, got "a"$/,
    },
    {
      ...creation,
      what: "a fraction as max_turns",
      body: '{"agent":{"name":"a","max_turns":1.5}}',
      status: 400,
      text: /^invalid request body: agent\.max_turns: expected .*, got 1\.5$/,
    },
    {
      ...creation,
      what: "a number that no integer holds",
      body: '{"agent":{"name":"a","max_turns":1e99}}',
      status: 400,
      text: /^invalid request body: agent\.max_turns: expected /,
    },
    {
      ...creation,
      what: "an object as list",
      body: '{"agent":{"name":"a","tools":{"builtin":{}}}}',
      status: 400,
      text: /^invalid request body: agent\.tools\.builtin: expected a list/,
    },
    {
      ...creation,
      what: "JSON that is nested without end",
      body: `{"agent":${"[".repeat(100_000)}`,
      status: 400,
      text: /^invalid request body: /,
    },
    {
      ...creation,
      what: "a lone surrogate as session id",
      body: '{"session_id":"\\ud800","agent":{"name":"a"}}',
      status: 400,
      text: /^invalid session_id: /,
    },
    {
      ...creation,
      what: "bytes that are not UTF-8 as session id",
      body: Buffer.concat([
        Buffer.from('{"agent":{"name":"a"},"session_id":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]),
      status: 400,
      text: /^invalid session_id: /,
    },
    {
      ...creation,
      what: "a compressed body",
      body: "x",
      headers: { "content-encoding": "gzip" },
      status: 415,
      text: /^content-encoding must be identity/,
    },
    {
      ...cancel,
      what: "a content type that is no JSON",
      body: "{}",
      headers: { "content-type": "text/plain" },
      status: 415,
      text: /^content-type must be application\/json$/,
    },
    {
      ...cancel,
      what: "an unknown key",
      body: '{"force":true}',
      headers: asJson,
      status: 400,
      text: /^invalid request body: force: unknown key$/,
    },
    {
      ...cancel,
      what: "bytes that are not UTF-8",
      body: Buffer.from([0x7b, 0xff, 0x7d]),
      headers: asJson,
      status: 400,
      text: /^invalid request body: not UTF-8$/,
    },
    { what: "an unknown query key", path: "/v1/runs?color=red", status: 400, text: /"color" is unknown$/ },
    {
      what: "a query key twice",
      path: "/v1/runs?page_size=1&page_size=2",
      status: 400,
      text: /"page_size" is given twice$/,
    },
    {
      what: "a page size that is no number",
      path: "/v1/runs?page_size=ten",
      status: 400,
      text: /"page_size" must be /,
    },
    { what: "a broken escape in the query", path: "/v1/runs?page_token=%ff", status: 400, text: /^invalid query: / },
    { what: "a broken escape in the path", path: "/v1/sessions/%ff", status: 400, text: /path|session_id/ },
    {
      what: "a Last-Event-ID that is no number",
      path: `/v1/runs/${runId}/results:tail`,
      headers: { "last-event-id": "soon" },
      status: 400,
      text: /^invalid Last-Event-ID: must be /,
    },
    {
      what: "a NUL in a position",
      path: "/v1/sessions/good/stream?after=1%00",
      status: 400,
      text: /^invalid after: /,
    },
    ...["/", "/v1", "/v1/", "/v2/sessions", "/v1/sessions/a/b", "/v1/sessions/good/", "/runnel.v1.RunService/Nope"].map(
      (path) => ({ what: `the path ${path}`, path, status: 404, text: /^404 page not found\n$/ }),
    ),
    {
      what: "PUT of a session",
      method: "PUT",
      path: "/v1/sessions/good",
      status: 405,
      text: /^$/,
      allow: "GET, DELETE",
    },
    {
      what: "GET of messages",
      path: "/v1/sessions/good/messages",
      status: 405,
      text: /^$/,
      allow: "POST",
    },
    {
      what: "PUT of a run",
      method: "PUT",
      path: `/v1/runs/${runId}`,
      status: 405,
      text: /^$/,
      allow: "GET, DELETE",
    },
    { what: "GET of a cancel", path: `/v1/runs/${runId}:cancel`, status: 405, text: /^$/, allow: "POST" },
  ];

  test("every invalid request gets an error that names the problem, and changes nothing", async () => {
    const { service, before } = await setUp((each) => connectGrpc(each.target, credentialsOf()));
    for (const { what, method = "GET", path = "/", body, headers = {}, status: expected, text, allow } of badRequests) {
      const response = await fetch(`${service.url}${path}`, {
        method,
        headers: { ...credentialsOf(), ...headers },
        ...(body !== undefined && { body }),
      });
      const answer = await response.text();
      expect.soft(response.status, what).toBe(expected);
      expect.soft(response.headers.get("allow"), what).toBe(allow ?? null);
      // Without a route there is no format of errors: these are the texts of the Agent Runner document's own service.
      const isJson = expected !== 404 && expected !== 405;
      expect.soft(response.headers.get("content-type") === "application/json", what).toBe(isJson);
      expect.soft(isJson ? JSON.parse(answer).error : answer, what).toMatch(text);
      expect.soft(answer, what).not.toMatch(internals);
    }
    expect(await countRows(service)).toEqual(before);
    expect((await fetch(`${service.url}/livez`)).status).toBe(200);
  });

  test("a lone surrogate in a text becomes a replacement character", async () => {
    const service = await startService();
    const body = '{"session_id":"odd","agent":{"name":"a\\ud800b"}}';
    expect((await fetch(`${service.url}/v1/sessions`, { method: "POST", headers: credentialsOf(), body })).status).toBe(
      201,
    );
    const shown = await (await fetch(`${service.url}/v1/sessions/odd`, { headers: credentialsOf() })).json();
    expect(shown).toMatchObject({ name: "a\ufffdb" });
  });

  test("a work_dir may have all characters of a path", async () => {
    const service = await startService();
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

  test("every unreadable request ends at once with a status, and changes nothing", async () => {
    const service = await startService();
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

  test("the reference client gets RESOURCE_EXHAUSTED for a message over 4 MiB", async () => {
    const service = await startService();
    const call = connectGrpc(service.target, credentialsOf()).createSession({
      agent: { name: "a".repeat(5 * 1_048_576) },
    });
    expect((await refusalOf(call)).grpcCode).toBe("RESOURCE_EXHAUSTED");
  });

  test("a bomb of compressed zeros is refused by its unpacked size", async () => {
    const service = await startService();
    const bomb = gzipSync(Buffer.alloc(64 * 1_048_576));
    const end = await callRaw(service.url, createPath, frame(bomb, { flag: 1 }), { "grpc-encoding": "gzip" });
    expect(end.grpcStatus).toBe(RESOURCE_EXHAUSTED);
  });

  test("unknown methods and services are unimplemented", async () => {
    const service = await startService();
    for (const path of ["/runnel.v1.RunService/Nope", "/no.such.Service/Call", "/"]) {
      const end = await callRaw(service.url, path, frame(good));
      expect(end.grpcStatus ?? end.httpStatus, path).toSatisfy((found: number) => [UNIMPLEMENTED, 404].includes(found));
    }
  });

  test("unknown fields are ignored", async () => {
    const service = await startService();
    // Field 1000, a string.
    const unknown = Buffer.concat([good, Buffer.from([0xc2, 0x3e, 0x01, 0x78])]);
    expect((await callRaw(service.url, createPath, frame(unknown))).grpcStatus).toBe(status.OK);
  });

  test("the largest message within the maximum is accepted", async () => {
    const service = await startService();
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
