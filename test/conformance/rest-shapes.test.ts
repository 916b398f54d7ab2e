// The routes of the Agent Runner document, byte for byte: status, headers, key order, texts, framing, and every example of the
// document. Keys and lines that Runnel adds come after the documented ones, or are of a kind that its clients skip.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { openFolder } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { test as base, readSession, setStage } from "./stage.ts";
import { findSurface } from "./surfaces.ts";

const rest = findSurface("REST");
const test = base.extend("kind", rest);

/** Status, content type and body of one answer. */
type Answer = readonly [number, string | null, string];

async function ask(url: string, method: string, path: string, body?: string): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: credentialsOf(),
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
  return [response.status, response.headers.get("content-type"), text];
}

function json(status: number, text: string): Answer {
  return [status, "application/json", `${text}\n`];
}

test("creating a session returns 201 with its id and status", async ({ service }) => {
  const create = (body: string) => ask(service.url, "POST", "/v1/sessions", body);
  expect(await create('{"session_id":"s-1","agent":{"name":"a"}}')).toEqual(
    json(201, '{"session_id":"s-1","status":"created"}'),
  );
  const [status, , text] = await create('{"agent":{"name":"a"}}');
  expect(status).toBe(201);
  expect(text).toMatch(/^\{"session_id":"[0-9a-f]{32}","status":"created"\}\n$/);
});

test("a body is read as leniently as documented", async ({ service }) => {
  const create = (body: string) => ask(service.url, "POST", "/v1/sessions", body);
  const created = (id: string) => json(201, `{"session_id":"${id}","status":"created"}`);
  expect(await create('{"SESSION_ID":"upper","Agent":{"NAME":"a"}}')).toEqual(created("upper"));
  expect(await create('{"session_id":"more","agent":{"name":"a","color":1},"x":[{}]}')).toEqual(created("more"));
  expect(await create('{"session_id":"tail","agent":{"name":"a"}} and more')).toEqual(created("tail"));
  expect(await create('{"session_id":"nil","work_dir":null,"agent":{"name":"a","tools":null}}')).toEqual(
    created("nil"),
  );
});

test("an invalid session is refused with the documented messages in order", async ({ service, folder: directory }) => {
  await writeFile(join(directory, "file"), "");
  const refused = async (body: object, error: string, status = 400): Promise<void> => {
    const text = JSON.stringify({ error });
    expect(await ask(service.url, "POST", "/v1/sessions", JSON.stringify(body))).toEqual(json(status, text));
  };
  const agent = { name: "a" };
  const badId = "invalid session_id: must be 1-128 alphanumeric/dash/underscore characters";
  await refused({}, "agent.name is required");
  await refused({ session_id: "no spaces", work_dir: "x", agent: { name: "" } }, "agent.name is required");
  await refused({ session_id: "no spaces", work_dir: "x", agent }, badId);
  await refused({ session_id: "x".repeat(129), agent }, badId);
  await refused({ work_dir: "x", agent }, "invalid work_dir: must be an absolute path");
  const missing = join(directory, "missing");
  await refused(
    { work_dir: missing, agent },
    `invalid work_dir: not accessible: stat ${missing}: no such file or directory`,
  );
  await refused({ work_dir: join(directory, "file"), agent }, "invalid work_dir: not a directory");
  await ask(service.url, "POST", "/v1/sessions", '{"session_id":"taken","agent":{"name":"a"}}');
  await refused({ session_id: "taken", agent }, 'session "taken" already exists', 409);
});

test("a session has its keys in the documented order, and leaves out empty ones", async () => {
  const { service, provider, api } = await setStage(rest);
  provider.respond(answer("done & <dusted>"));
  await ask(service.url, "POST", "/v1/sessions", '{"session_id":"s-1","agent":{"name":"a"}}');
  const [status, type, created] = await ask(service.url, "GET", "/v1/sessions/s-1");
  expect([status, type]).toEqual([200, "application/json"]);
  const time = String.raw`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z"`;
  expect(created).toMatch(
    new RegExp(String.raw`^\{"session_id":"s-1","name":"a","model":"","status":"created","created_at":${time}\}\n$`),
  );
  await ask(service.url, "POST", "/v1/sessions/s-1/messages", '{"message":"go"}');
  await readSession(api, "s-1");
  const [, , completed] = await ask(service.url, "GET", "/v1/sessions/s-1");
  expect(completed).toMatch(
    new RegExp(
      String.raw`^\{"session_id":"s-1","name":"a","model":"","status":"completed","output":"done \\u0026 \\u003cdusted\\u003e","turns":1,"duration_ms":\d+,"created_at":${time},"latest_run_id":"[0-9a-f-]{36}","usage":\{[^{}]+\}\}\n$`,
    ),
  );
});

test("sending a message returns 202 with the tools", async ({ service, provider }) => {
  provider.respond(answer("a"), answer("b"));
  const send = async (id: string, tools: object) => {
    await ask(service.url, "POST", "/v1/sessions", JSON.stringify({ session_id: id, agent: { name: "a", tools } }));
    return await ask(service.url, "POST", `/v1/sessions/${id}/messages`, '{"message":"go"}');
  };
  const answered = (id: string, tools: string) =>
    new RegExp(
      String.raw`^\{"session_id":"${id}","status":"running","tools_registered":${tools},"run_id":"[0-9a-f-]{36}"\}\n$`,
    );
  const [status, type, text] = await send("s-1", { builtin: ["read_file", "list_dir"] });
  expect([status, type]).toEqual([202, "application/json"]);
  expect(text).toMatch(answered("s-1", String.raw`\["read_file","list_dir"\]`));
  expect((await send("s-2", {}))[2]).toMatch(answered("s-2", String.raw`\[\]`));
});

test("an invalid message is refused with the documented messages", async ({ service, provider, api }) => {
  provider.respond((wire) => wire.hang());
  const create = (id: string, agent: object) =>
    ask(service.url, "POST", "/v1/sessions", JSON.stringify({ session_id: id, agent: { name: "a", ...agent } }));
  const send = (id: string, body = '{"message":"go"}') => ask(service.url, "POST", `/v1/sessions/${id}/messages`, body);
  const refused = (error: string, status = 400) => json(status, JSON.stringify({ error }));

  for (const body of ['{"message":"go"}', '{"message":""}', "{", ""]) {
    expect(await send("unknown", body)).toEqual(refused("session not found", 404));
  }
  await create("plain", {});
  expect(await send("plain", '{"message":""}')).toEqual(refused("message is required"));
  expect(await send("plain", "{}")).toEqual(refused("message is required"));
  for (const body of ["", "{", '{"message":1}', "[]"]) {
    const [status, type, text] = await send("plain", body);
    expect([status, type]).toEqual([400, "application/json"]);
    expect(text).toMatch(/^\{"error":"invalid request body: .+"\}\n$/);
  }
  const reasons = {
    model: { model: "llama" },
    key: { model: "claude-3" },
    hot: { temperature: 3 },
    zap: { tools: { builtin: ["zap"] } },
    twice: { tools: { builtin: ["list_dir", "list_dir"] } },
  };
  for (const [id, agent] of Object.entries(reasons)) {
    await create(id, agent);
  }
  expect(await send("model")).toEqual(
    refused(
      'failed to create client: unsupported model "llama": expected prefix gpt-/o1-/o3-/chatgpt- (OpenAI), gemini- (Gemini), or claude- (Anthropic)',
    ),
  );
  expect(await send("key")).toEqual(
    refused("failed to create client: Anthropic API key not configured for model claude-3"),
  );
  expect(await send("hot")).toEqual(
    refused("failed to create client: temperature must be between 0 and 2, got 3.000000"),
  );
  expect(await send("zap")).toEqual(refused("failed to build registry: unknown builtin tool: zap"));
  expect(await send("twice")).toEqual(
    refused("failed to build registry: register builtin list_dir: tool already registered: list_dir"),
  );
  expect((await send("plain"))[0]).toBe(202);
  expect(await send("plain")).toEqual(refused("session already running", 409));
  await api.deleteSession("plain");
});

test("deleting a session returns once it is deleted, and then 404", async ({ service }) => {
  await ask(service.url, "POST", "/v1/sessions", '{"session_id":"s-1","agent":{"name":"a"}}');
  expect(await ask(service.url, "DELETE", "/v1/sessions/s-1")).toEqual(json(200, '{"status":"deleted"}'));
  const gone = json(404, '{"error":"session not found"}');
  expect(await ask(service.url, "DELETE", "/v1/sessions/s-1")).toEqual(gone);
  expect(await ask(service.url, "GET", "/v1/sessions/s-1")).toEqual(gone);
  expect(await ask(service.url, "GET", "/v1/sessions/s-1/stream")).toEqual(gone);
});

test("a stream is framed as documented, with ids and an opening comment", async ({ service, provider }) => {
  provider.respond(
    callTools(
      { id: "c-1", name: "list_dir", arguments: '{ "path": "." }' },
      { id: "c-2", name: "list_dir", arguments: '{"path":"<missing>"}' },
    ),
    answer('one\n"two"\u2028'),
  );
  const agent = { name: "a", tools: { builtin: ["list_dir"] } };
  await ask(service.url, "POST", "/v1/sessions", JSON.stringify({ session_id: "s-1", agent }));
  await ask(service.url, "POST", "/v1/sessions/s-1/messages", '{"message":"go"}');
  const response = await fetch(`${service.url}/v1/sessions/s-1/stream`, { headers: credentialsOf() });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-store",
    connection: "keep-alive",
    "x-accel-buffering": "no",
    "transfer-encoding": "chunked",
  });
  const [opening, ...frames] = (await response.text()).split(/(?<=\n\n)/);
  expect(opening).toBe(": open\n\n");
  const positions = frames.map((frame) => /^id: ([0-9a-f-]{36}\.\d+)\n/.exec(frame)?.[1]);
  expect(positions).not.toContain(undefined);
  const documented = frames.map((frame) =>
    frame.replace(/^id: .*\n/, "").replace(/"duration_ms":\d+/, '"duration_ms":1'),
  );
  expect(documented).toEqual([
    'event: tool_call\ndata: {"tool":"list_dir","args":{"path":"."}}\n\n',
    'event: tool_call\ndata: {"tool":"list_dir","args":{"path":"\\u003cmissing\\u003e"}}\n\n',
    'event: tool_result\ndata: {"tool":"list_dir","success":true,"content":""}\n\n',
    expect.stringMatching(
      /^event: tool_result\ndata: \{"tool":"list_dir","success":false,"content":"","error":"open .*\\u003cmissing\\u003e: no such file or directory"\}\n\n$/,
    ),
    'event: text\ndata: {"content":"one\\n\\"two\\"\\u2028"}\n\n',
    'event: done\ndata: {"status":"completed","output":"one\\n\\"two\\"\\u2028","turns":2,"duration_ms":1}\n\n',
  ]);
});

test("a failed run ends its stream with an error and done, and later reads get 204", async ({ service, provider }) => {
  provider.respond(fail(401, "bad key"));
  await ask(service.url, "POST", "/v1/sessions", '{"session_id":"s-1","agent":{"name":"a"}}');
  await ask(service.url, "POST", "/v1/sessions/s-1/messages", '{"message":"go"}');
  const stream = `${service.url}/v1/sessions/s-1/stream`;
  const headers = credentialsOf();
  const text = await (await fetch(stream, { headers })).text();
  expect(text).toMatch(
    /^: open\n\nevent: error\ndata: \{"message":"failed to send message: API error \(status 401\): bad key"\}\n\nid: \S+\nevent: done\ndata: \{"status":"failed"(,"duration_ms":\d+)?\}\n\n$/,
  );
  const id = /^id: (.*)$/m.exec(text)?.[1] ?? "";
  for (const again of [
    await fetch(stream, { headers: { ...headers, "last-event-id": id } }),
    await fetch(`${stream}?after=${id}`, { headers }),
  ]) {
    expect([again.status, await again.text()]).toEqual([204, ""]);
  }
  const [, sequence] = id.split(".");
  expect((await fetch(`${stream}?after_seq=${sequence}`, { headers })).status).toBe(204);
});

test("health is the documented body", async ({ service }) => {
  const health = () => ask(service.url, "GET", "/health");
  expect(await health()).toEqual(json(200, '{"active_sessions":0,"status":"ok","total_sessions":0}'));
  await ask(service.url, "POST", "/v1/sessions", '{"session_id":"s-1","agent":{"name":"a"}}');
  expect(await health()).toEqual(json(200, '{"active_sessions":0,"status":"ok","total_sessions":1}'));
});

test("a body over the limit is refused with 413 before it is read", async ({ service }) => {
  const [status, type, text] = await ask(service.url, "POST", "/v1/sessions", "x".repeat(10_485_761));
  expect([status, type]).toEqual([413, "application/json"]);
  expect(text).toBe('{"error":"the request body is larger than 10485760 bytes"}\n');
});

test("unknown routes are answered as documented, and every answer has a request id", async ({ service }) => {
  const request = async (method: string, path: string) => {
    const headers = { ...credentialsOf(), "x-request-id": "mine" };
    const response = await fetch(`${service.url}${path}`, { method, headers });
    expect(response.headers.get("x-request-id")).toBe("mine");
    return { status: response.status, text: await response.text(), headers: Object.fromEntries(response.headers) };
  };
  for (const path of ["/nothing", "/v1/nothing", "/v1/sessions/"]) {
    const { status, text, headers } = await request("GET", path);
    expect([status, text]).toEqual([404, "404 page not found\n"]);
    expect(headers).toMatchObject({ "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" });
  }
  for (const [method, path, allow] of [
    ["PUT", "/v1/sessions/s-1", "GET, DELETE, PATCH"],
    ["GET", "/v1/sessions/s-1/messages", "POST"],
    ["POST", "/v1/sessions/s-1/stream", "GET"],
    ["HEAD", "/health", "GET"],
  ] as const) {
    const { status, text, headers } = await request(method, path);
    expect([path, status, text, headers.allow]).toEqual([path, 405, "", allow]);
  }
  const { headers } = await fetch(`${service.url}/health`);
  expect(headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
});

test("the refusal over the rate limit has exactly 31 bytes", async () => {
  const { service } = await setStage(rest, { rateLimitRps: 1, rateLimitBurst: 1 });
  const call = () => fetch(`${service.url}/v1/sessions/s-1`, { headers: credentialsOf() });
  expect((await call()).status).toBe(404);
  const refused = await call();
  expect(refused.status).toBe(429);
  expect(Object.fromEntries(refused.headers)).toMatchObject({
    "content-type": "application/json",
    "content-length": "31",
    "retry-after": "1",
  });
  expect(await refused.text()).toBe('{"error":"rate limit exceeded"}');
});

// The examples as the document prints them, with two changes: the directory has to exist here, and the tools that write or run
// something, and those of the caller, do not exist yet when a message is sent.

/** Returns the JSON of an example on one line, in its written order. */
function example(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

/** Returns the text without the keys that Runnel adds after the documented ones, and with the times of the examples. */
function documented(text: string): string {
  return text
    .replace(/,"usage":\{[^{}]+\}(?=\}\n$)/, "")
    .replace(/,"(?:latest_)?run_id":"[0-9a-f-]{36}"(?=\}\n$)/, "")
    .replace(/"duration_ms":[1-9]\d*/, '"duration_ms":12340')
    .replace(/"created_at":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z"/, '"created_at":"2026-02-26T12:00:00Z"');
}

const exampleId = "a1b2c3d4e5f6";

/** A project with `src/main.go`. */
async function makeProject(): Promise<string> {
  const directory = await openFolder();
  await mkdir(join(directory, "src"));
  await writeFile(join(directory, "src", "main.go"), "package main\n\nimport...");
  return directory;
}

/** Creates the reviewer of the examples, with the tools that exist. */
async function createReviewer(url: string, workDir: string): Promise<Answer> {
  const tools = { builtin: ["read_file", "list_dir"] };
  const agent = { name: "code-reviewer", model: "gpt-4o", max_turns: 10, tools };
  return await ask(url, "POST", "/v1/sessions", JSON.stringify({ session_id: exampleId, work_dir: workDir, agent }));
}

const exampleMessage = `{
  "message": "Analyze the code in /src and find potential security vulnerabilities"
}`;

test("the document's example of creating a session is accepted exactly as printed", async ({ service }) => {
  const request = `{
  "session_id": "my-custom-id",
  "work_dir": ${JSON.stringify(await makeProject())},
  "callback": {
    "base_url": "https://my-app.com/api/agent-runner",
    "timeout_sec": 15
  },
  "agent": {
    "name": "code-reviewer",
    "model": "gpt-4o",
    "system_prompt": "You are a senior code reviewer. Be thorough and specific.",
    "max_turns": 10,
    "max_tokens": 4096,
    "temperature": 0.7,
    "tools": {
      "builtin": ["read_file", "write_file", "bash", "glob", "grep"],
      "remote": [
        {
          "name": "search_docs",
          "description": "Search internal documentation",
          "parameters": {
            "type": "object",
            "properties": {
              "query": {"type": "string", "description": "Search query"}
            },
            "required": ["query"]
          }
        }
      ]
    }
  }
}`;
  const response = `{
  "session_id": "my-custom-id",
  "status": "created"
}`;
  expect(await ask(service.url, "POST", "/v1/sessions", request)).toEqual(json(201, example(response)));
});

test("the document's examples of a message, of the session after it and of its deletion match the answers", async () => {
  const { service, provider, api } = await setStage(rest);
  provider.respond(...readInTurns(4), answer("I found 3 issues in the codebase..."));
  expect(await createReviewer(service.url, await makeProject())).toEqual(
    json(201, example(`{\n  "session_id": "${exampleId}",\n  "status": "created"\n}`)),
  );
  const [status, type, text] = await ask(service.url, "POST", `/v1/sessions/${exampleId}/messages`, exampleMessage);
  const accepted = `{
  "session_id": "a1b2c3d4e5f6",
  "status": "running",
  "tools_registered": ["read_file", "list_dir"]
}`;
  expect([status, type, documented(text)]).toEqual(json(202, example(accepted)));
  await readSession(api, exampleId);
  const [getStatus, getType, session] = await ask(service.url, "GET", `/v1/sessions/${exampleId}`);
  const completed = `{
  "session_id": "a1b2c3d4e5f6",
  "name": "code-reviewer",
  "model": "gpt-4o",
  "status": "completed",
  "output": "I found 3 issues in the codebase...",
  "turns": 5,
  "duration_ms": 12340,
  "created_at": "2026-02-26T12:00:00Z"
}`;
  expect([getStatus, getType, documented(session)]).toEqual(json(200, example(completed)));
  expect(await ask(service.url, "DELETE", `/v1/sessions/${exampleId}`)).toEqual(
    json(200, example(`{\n  "status": "deleted"\n}`)),
  );
});

test("the document's examples of events match the stream", async ({ service, provider }) => {
  const firstIsRead = Promise.withResolvers<void>();
  provider.respond(
    async (wire) => {
      wire.text("Let me analyze ");
      // Pieces that wait together for the log are merged into one.
      await firstIsRead.promise;
      wire.text("the code structure...");
      wire.toolCalls({ index: 0, id: "c-1", name: "read_file", arguments: '{"file_path":"src/main.go"}' });
      wire.done("tool_calls");
    },
    ...readInTurns(3),
    answer("Found 3 issues..."),
  );
  await createReviewer(service.url, await makeProject());
  await ask(service.url, "POST", `/v1/sessions/${exampleId}/messages`, exampleMessage);
  const response = await fetch(`${service.url}/v1/sessions/${exampleId}/stream`, { headers: credentialsOf() });
  let text = "";
  for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes("Let me analyze ")) {
      firstIsRead.resolve();
    }
  }
  const frames = documented(text.replaceAll(/^id: .*\n/gm, "")).split(/(?<=\n\n)/);
  expect(frames.slice(0, 5)).toEqual([
    ": open\n\n",
    'event: text\ndata: {"content":"Let me analyze "}\n\n',
    'event: text\ndata: {"content":"the code structure..."}\n\n',
    'event: tool_call\ndata: {"tool":"read_file","args":{"file_path":"src/main.go"}}\n\n',
    // The example leaves out the line numbers that its own section on read_file describes.
    'event: tool_result\ndata: {"tool":"read_file","success":true,"content":"     1\\tpackage main\\n     2\\t\\n     3\\timport...\\n"}\n\n',
  ]);
  expect(frames.at(-1)).toBe(
    'event: done\ndata: {"status":"completed","output":"Found 3 issues...","turns":5,"duration_ms":12340}\n\n',
  );
});

test("the document's example of an error is the one of a run past its time limit", async () => {
  const { service, provider } = await setStage(rest, { defaultTimeoutSecs: 1 });
  provider.respond((wire) => wire.hang());
  await createReviewer(service.url, await makeProject());
  await ask(service.url, "POST", `/v1/sessions/${exampleId}/messages`, exampleMessage);
  const response = await fetch(`${service.url}/v1/sessions/${exampleId}/stream`, { headers: credentialsOf() });
  const text = (await response.text()).replaceAll(/^id: .*\n/gm, "");
  expect(text).toContain('event: error\ndata: {"message":"context deadline exceeded"}\n\n');
  expect(text).toMatch(/event: done\ndata: \{"status":"failed"[^\n]*\}\n\n$/);
});

test("the document's example of health has these numbers, with its keys in the order of the original service", async () => {
  const { service, provider, api } = await setStage(rest);
  provider.respond(
    (wire) => wire.hang(),
    (wire) => wire.hang(),
  );
  const ids = ["s-1", "s-2", "s-3", "s-4", "s-5"];
  for (const id of ids) {
    await ask(service.url, "POST", "/v1/sessions", JSON.stringify({ session_id: id, agent: { name: "a" } }));
  }
  for (const id of ids.slice(0, 2)) {
    await ask(service.url, "POST", `/v1/sessions/${id}/messages`, '{"message":"go"}');
  }
  expect(await ask(service.url, "GET", "/health")).toEqual(
    json(200, '{"active_sessions":2,"status":"ok","total_sessions":5}'),
  );
  for (const id of ids) {
    await api.deleteSession(id);
  }
});

/** Turns that each read something else, so that none of them looks like a loop. */
function readInTurns(turns: number): Script[] {
  return Array.from({ length: turns }, (_, index) => {
    const args = JSON.stringify({ file_path: "src/main.go", offset: index + 2 });
    return callTools({ id: `c-${index + 2}`, name: "read_file", arguments: args });
  });
}
