// Remote tools, as a caller sees them: its agent names them, and the service calls the caller's own host, which accepts what
// the PHP client library accepts.

import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { test as base, describe, expect, onTestFinished } from "vitest";
import type { Config } from "../../src/platform/config/keys.ts";
import { listen } from "../egress/internet.ts";
import { type CallbackAnswer, type CallbackHost, cut, startCallbackHost, status } from "../fakes/callback-host.ts";
import { openCollector } from "../fakes/otlp-collector.ts";
import { answer, callInPieces, callTools, type FakeProvider } from "../fakes/provider.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { signV1 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";
import { readMetrics } from "../telemetry/read-metrics.ts";
import { type Stage, setStage, told } from "./stage.ts";
import { findSurface } from "./surfaces.ts";

const test = base.extend("host", () => openHost());

const rest = findSurface("REST");
const securityCallbackAllow = ["127.0.0.1@127.0.0.1/32"];

const parameters = {
  type: "object",
  properties: {
    query: { type: ["string", "null"], minLength: 2, default: "x" },
    kind: { anyOf: [{ enum: [1, 2] }, { const: "any" }] },
  },
  required: ["query"],
  additionalProperties: false,
};
const searchDocs = { name: "search_docs", description: "Searches the documents.", parameters };

async function openHost(secret = keyOf()): Promise<CallbackHost> {
  const host = await startCallbackHost({ secret });
  onTestFinished(() => host[Symbol.asyncDispose]());
  return host;
}

interface Talk {
  readonly stage: Stage;
  readonly message?: string;
  readonly baseUrl?: string | undefined;
  readonly timeoutSec?: number;
  readonly remote?: readonly { readonly name: string; readonly parameters?: unknown }[];
  readonly builtin?: readonly string[];
}

/** Resolves with the answer to the first message of a new session. */
async function sendFirst(talk: Talk, credentials = credentialsOf()): Promise<[number, Answer]> {
  const { stage, message = "find it", baseUrl, timeoutSec = 0, remote = [searchDocs], builtin = [] } = talk;
  const callback = baseUrl === undefined ? {} : { callback: { base_url: baseUrl, timeout_sec: timeoutSec } };
  const agent = { name: "caller", tools: { builtin, remote } };
  const [made, { session_id }] = await post(stage, "/v1/sessions", { agent, ...callback }, credentials);
  expect(made).toBe(201);
  return await post(stage, `/v1/sessions/${session_id}/messages`, { message }, credentials);
}

type Answer = Readonly<Record<string, unknown>>;

async function post(
  { service }: Stage,
  path: string,
  body: object,
  headers = credentialsOf(),
): Promise<[number, Answer]> {
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`${service.url}${path}`, init);
  return [response.status, (await response.json()) as Answer];
}

/** Resolves with every event of a run in which the model makes one call. */
async function converse(talk: Talk, args = '{"query":"auth"}'): Promise<unknown[]> {
  const { provider, api } = talk.stage;
  provider.respond(callTools({ id: "call_7", name: "search_docs", arguments: args }), answer("done"));
  const [code, sent] = await sendFirst(talk);
  const { remote = [searchDocs], builtin = [] } = talk;
  const toolsRegistered = [...builtin, ...remote.map(({ name }) => name)];
  expect([code, sent]).toEqual([202, expect.objectContaining({ tools_registered: toolsRegistered })]);
  return told(await Array.fromAsync(api.followSession(String(sent.session_id))));
}

async function toolsTold(provider: FakeProvider): Promise<unknown> {
  return (await provider.request(0)).body.tools;
}

const openStage = (flags: Partial<Config> = {}): Promise<Stage> => setStage(rest, { securityCallbackAllow, ...flags });

test("a remote tool is offered with its own schema, called with a signature, and its result returned", async () => {
  const host = await openHost();
  const stage = await openStage();
  host.answer({ success: true, content: "3 documents" });
  const events = await converse({ stage, baseUrl: host.baseUrl, builtin: ["list_dir"] });
  expect(events).toEqual([
    ["tool_call", { tool: "search_docs", args: { query: "auth" } }],
    ["tool_result", { tool: "search_docs", success: true, content: "3 documents" }],
    ["text", { content: "done" }],
    ["done", { status: "completed", output: "done", turns: 2 }],
  ]);
  expect(await toolsTold(stage.provider)).toEqual([
    expect.objectContaining({ function: expect.objectContaining({ name: "list_dir" }) }),
    { type: "function", function: searchDocs },
  ]);
  expect((await stage.provider.request(1)).body.messages.at(-1)).toEqual({
    role: "tool",
    tool_call_id: "call_7",
    content: "3 documents",
  });
  expect(host.refusals).toEqual([]);
  expect(host.calls).toHaveLength(1);
  const [{ path = "", body = "", headers = {} } = {}] = host.calls;
  expect(path).toBe("POST /api/agent-runner/tools/search_docs");
  expect(JSON.parse(body)).toEqual({
    arguments: { query: "auth" },
    session_id: headers["x-session-id"],
    tool_name: "search_docs",
  });
  expect(headers).toMatchObject({ "idempotency-key": "call_7", "content-type": "application/json" });
});

test("errors of the host and of the arguments reach both reader and model", async ({ host }) => {
  const stage = await openStage();
  host.answer({ success: false, error: "none found" });
  const failed = await converse({ stage, baseUrl: host.baseUrl });
  expect(failed[1]).toEqual(["tool_result", { tool: "search_docs", success: false, content: "", error: "none found" }]);
  host.answer(status(422, "no"));
  const refused = await converse({ stage, baseUrl: host.baseUrl });
  expect(refused[1]).toMatchObject(["tool_result", { error: "callback returned 422: no" }]);
  const wrong = await converse({ stage, baseUrl: host.baseUrl }, '{"query":"a"}');
  const error = "invalid arguments: /query must NOT have fewer than 2 characters (#/properties/query/minLength)";
  expect(wrong[1]).toMatchObject(["tool_result", { error }]);
  expect((await stage.provider.request(5)).body.messages.at(-1)).toMatchObject({ content: `Error: ${error}` });
  expect(host.calls).toHaveLength(2);
});

test("at most five calls of a turn run at once, after all of them were announced", async ({ host }) => {
  const { provider, api } = await openStage();
  const waiting: (() => void)[] = [];
  host.answer((response: ServerResponse) => {
    waiting.push(() => response.end('{"success":true,"content":"ok"}'));
  });
  const ids = Array.from({ length: 7 }, (_, index) => `call_${index}`);
  provider.respond(
    callTools(...ids.map((id) => ({ id, name: "search_docs", arguments: `{"query":"${id}"}` }))),
    answer("done"),
  );
  const { session_id: sessionId } = await api.createSession({
    callback: { baseUrl: host.baseUrl },
    agent: { name: "caller", tools: { remote: [{ name: "search_docs" }] } },
  });
  await api.sendMessage({ sessionId, message: "find it" });
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of api.followSession(sessionId)) {
      types.push(type);
    }
  })();
  await host.called(5);
  await until("all calls to be told", () => types.length === 7);
  for (const count of [6, 7]) {
    // The next call comes only after one has been answered.
    expect(host.calls).toHaveLength(count - 1);
    waiting.shift()?.();
    await host.called(count);
  }
  expect(types).toEqual(Array(7).fill("tool_call"));
  for (const answerOne of waiting) {
    answerOne();
  }
  await reading;
  expect(types).toEqual([...Array(7).fill("tool_call"), ...Array(7).fill("tool_result"), "text", "done"]);
});

describe("the callback host", () => {
  test("is the global one, unless the session names one", async () => {
    const [own, global] = [await openHost(), await openHost()];
    const stage = await openStage({ callbackBaseUrl: global.baseUrl });
    await converse({ stage });
    expect([own.calls.length, global.calls.length]).toEqual([0, 1]);
    await converse({ stage, baseUrl: own.baseUrl });
    expect([own.calls.length, global.calls.length]).toEqual([1, 1]);
  });

  test("has the global timeout when the session has none of its own", async ({ host }) => {
    const stage = await openStage({ callbackTimeoutSec: 1 });
    const hungUp = Promise.withResolvers<void>();
    host.answer((response: ServerResponse) => {
      response.on("close", hungUp.resolve);
    });
    stage.provider.respond(callTools({ id: "c", name: "search_docs", arguments: '{"query":"auth"}' }));
    const [code, sent] = await sendFirst({ stage, baseUrl: host.baseUrl });
    expect(code).toBe(202);
    await hungUp.promise;
    await stage.api.deleteSession(String(sent.session_id));
  });

  test("gets calls signed with the shared secret when clients have no keys", async () => {
    const secret = "the secret that all callers share";
    const host = await openHost(secret);
    const stage = await openStage({ authApiKeys: [], authHmacSecret: secret, callbackBaseUrl: host.baseUrl });
    const signed = async (path: string, body: object) => {
      const text = JSON.stringify(body);
      const headers = signV1({ secret, clientId: "app", method: "POST", path, body: text });
      return (await (
        await fetch(`${stage.service.url}${path}`, { method: "POST", headers, body: text })
      ).json()) as Answer;
    };
    stage.provider.respond(callTools({ id: "c", name: "search_docs", arguments: '{"query":"auth"}' }), answer("done"));
    const agent = { name: "caller", tools: { remote: [searchDocs] } };
    const { session_id } = await signed("/v1/sessions", { agent });
    expect(await signed(`/v1/sessions/${session_id}/messages`, { message: "go" })).toMatchObject({
      tools_registered: ["search_docs"],
    });
    await host.called(1);
    expect(host.refusals).toEqual([]);
  });

  test("gets no signature from a service without authentication", async () => {
    const seen: IncomingHttpHeaders[] = [];
    const port = await listen((request, response) => {
      // Status callbacks of the run come here as well.
      if (request.url === "/tools/search_docs") {
        seen.push(request.headers);
      }
      response.end('{"success":true,"content":"open"}');
    });
    const stage = await openStage({ authApiKeys: [] });
    stage.provider.respond(callTools({ id: "c", name: "search_docs", arguments: '{"query":"auth"}' }), answer("done"));
    const baseUrl = `http://127.0.0.1:${port}`;
    const [code, sent] = await sendFirst({ stage, baseUrl }, {});
    expect([code, sent.error]).toEqual([202, undefined]);
    await until("the call", () => seen.length === 1);
    expect(seen[0]).toMatchObject({ "x-nonce": expect.any(String), "x-timestamp": expect.any(String) });
    expect(seen[0]).not.toHaveProperty("x-signature");
  });

  test("is refused at a private address that no setting lists", async ({ host }) => {
    const stage = await openStage({ metricsPort: 0 });
    const name = `http://localhost:${new URL(host.baseUrl).port}/`;
    const agent = { name: "caller", tools: { remote: [searchDocs] } };
    expect(await post(stage, "/v1/sessions", { agent, callback: { base_url: name } })).toEqual([
      400,
      { error: "invalid callback.base_url: localhost callbacks are not allowed" },
    ]);
    expect((await readMetrics(stage.service)).value('runnel_ssrf_denied_total{class="name"}')).toBe(1);
    const strict = await setStage(rest, { callbackBaseUrl: host.baseUrl });
    expect(await sendFirst({ stage: strict })).toEqual([
      400,
      {
        error:
          "failed to build registry: create remote tool search_docs: invalid callback.base_url: " +
          "private IP callbacks are not allowed",
      },
    ]);
    expect(host.calls).toEqual([]);
  });
});

interface FaultyHost {
  readonly what: string;
  /** Undefined: no host listens. */
  readonly answer?: CallbackAnswer;
  readonly timeoutSec?: number;
  /** The error that the model reads. */
  readonly error: string;
}

describe("a host", () => {
  const reset = "connection reset: it was closed before the answer was complete";
  const lie = '{"success":true,"content":"lie"}';
  const breaking: readonly FaultyHost[] = [
    { what: "is down", error: "connection refused" },
    { what: "never answers", answer: () => {}, timeoutSec: 1, error: "no complete answer within 1 s" },
    {
      what: "begins an answer and does not end it",
      answer: (response) => response.writeHead(200).write(lie),
      timeoutSec: 1,
      error: "no complete answer within 1 s",
    },
    { what: "closes at once", answer: cut(""), error: reset },
    { what: "closes in the head of its answer", answer: cut("HTTP/1.1 200 OK\r\ncontent-le"), error: reset },
    {
      what: "promises more than it sends",
      answer: cut(`HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n${lie}`),
      error: reset,
    },
    {
      what: "closes before the last of its pieces",
      answer: cut(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n20\r\n${lie}\r\n`),
      error: reset,
    },
    {
      what: "resets the connection",
      answer: (response) => response.socket?.resetAndDestroy(),
      error: reset,
    },
    { what: "speaks another protocol", answer: cut("SSH-2.0-OpenSSH_9.6\r\n"), error: "what came back is no HTTP" },
    {
      what: "promises a length that is none",
      answer: cut(`HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n${lie}`),
      error: "what came back is no HTTP",
    },
    {
      what: "promises two lengths",
      answer: cut(`HTTP/1.1 200 OK\r\ncontent-length: 32\r\ncontent-length: 5\r\n\r\n${lie}`),
      error: "what came back is no HTTP",
    },
    { what: "says that it is down", answer: status(503, "down"), error: "callback returned 503: down" },
  ];

  test("that is down, slow or breaks off is called four times; the model gets the reason, and the run continues", async () => {
    const stage = await openStage();
    await Promise.all(
      breaking.map(async (faulty) => {
        const error = `callback failed after retries: max retries exceeded: ${faulty.error}`;
        // On a busy machine a second may pass before a host with a timeout of one second has read the request.
        const asked = faulty.timeoutSec !== undefined ? expect.any(Number) : faulty.answer === undefined ? 0 : 4;
        expect.soft(await callAt(stage, faulty), faulty.what).toEqual(toldOf({ error }, asked));
      }),
    );
  });

  const html = { "content-type": "text/html" };
  const lying: readonly FaultyHost[] = [
    { what: "shows a web page", answer: status(200, "<html>", html), error: "the answer is not JSON" },
    { what: "says nothing", answer: status(200), error: "the answer is empty" },
    {
      what: "promises less than it sends",
      answer: status(200, lie, { "content-length": "5" }),
      error: "the answer is not JSON",
    },
    { what: "sends half of its JSON", answer: status(200, lie.slice(0, 20)), error: "the answer is not JSON" },
    {
      what: "packs its answer unasked",
      answer: (response) => response.end(gzipSync(lie)),
      error: "the answer is not JSON",
    },
    {
      what: "sends 10 MB",
      answer: { success: true, content: "x".repeat(10_000_000) },
      error: "the answer is longer than 204800 bytes",
    },
    { what: "sends without an end", answer: flood, error: "the answer is longer than 204800 bytes" },
    { what: "sends a list", answer: [{ success: true }], error: "the answer is not a JSON object" },
    { what: "sends a text", answer: status(200, '"fine"'), error: "the answer is not a JSON object" },
    { what: "succeeds in words", answer: { success: "true", content: "x" }, error: "success is not true or false" },
    { what: "succeeds by a number", answer: { success: 1, content: "x" }, error: "success is not true or false" },
    { what: "finds a number", answer: { success: true, content: 3 }, error: "content is not a string" },
    { what: "finds a list", answer: { success: true, content: ["x"] }, error: "content is not a string" },
    { what: "fails with an object", answer: { success: false, error: { code: 1 } }, error: "error is not a string" },
  ];

  test("that sends an invalid answer is called once; the model gets the reason, and the run continues", async () => {
    const stage = await openStage();
    await Promise.all(
      lying.map(async (faulty) => {
        const error = `callback failed after retries: parse response: ${faulty.error}`;
        expect.soft(await callAt(stage, faulty), faulty.what).toEqual(toldOf({ error }, 1));
      }),
    );
  });

  test("may use any content type for its JSON", async () => {
    const stage = await openStage();
    const faulty = {
      what: "calls its JSON a picture",
      answer: status(200, lie, { "content-type": "image/png" }),
      error: "",
    };
    expect(await callAt(stage, faulty)).toEqual(toldOf({ content: "lie" }, 1));
  });

  test("that never answers does not delay a cancel", async ({ host }) => {
    const stage = await openStage();
    const hungUp = Promise.withResolvers<void>();
    host.answer((response: ServerResponse) => void response.once("close", () => hungUp.resolve()));
    stage.provider.respond(callTools({ id: "c", name: "search_docs", arguments: '{"query":"auth"}' }), answer("never"));
    const [, { session_id: sessionId }] = await sendFirst({ stage, baseUrl: host.baseUrl });
    await host.called(1);
    const { runs } = await stage.api.listRuns({ sessionId: String(sessionId) });
    await stage.api.cancelRun(String(runs[0]?.run_id));
    await hungUp.promise;
    expect(told(await Array.fromAsync(stage.api.followSession(String(sessionId)))).slice(1)).toEqual([
      [
        "tool_result",
        { tool: "search_docs", success: false, content: "", error: "interrupted: the run ended before the call did" },
      ],
      ["done", { status: "cancelled", turns: 1 }],
    ]);
    expect(host.calls).toHaveLength(1);
    expect(stage.provider.requests).toHaveLength(1);
  });

  /** Returns what a reader, the model and the host see of one call, in a run of its own beside others. */
  async function callAt(stage: Stage, { what, answer: given, timeoutSec = 20 }: FaultyHost): Promise<unknown> {
    const host = await openHost();
    host.answer(given ?? {});
    // The provider selects the script by the message where runs are side by side.
    const message = `a host that ${what} tools=1 tool=search_docs args={"query":"auth"} n=1`;
    const baseUrl = given === undefined ? "http://127.0.0.1:1/" : host.baseUrl;
    const [, { session_id: sessionId }] = await sendFirst({ stage, message, baseUrl, timeoutSec });
    const [, result, ...rest] = told(await Array.fromAsync(stage.api.followSession(String(sessionId))));
    const requests = stage.provider.requests.filter(({ body }) =>
      body.messages.some(({ role, content }) => role === "user" && content === message),
    );
    const read = requests.map(({ body }) => body.messages.at(-1)?.content);
    return { result, rest, read, asked: host.calls.length };
  }

  function toldOf(outcome: { readonly content: string } | { readonly error: string }, asked: unknown): unknown {
    const isOk = "content" in outcome;
    const text = isOk ? outcome.content : `Error: ${outcome.error}`;
    return {
      result: ["tool_result", { tool: "search_docs", success: isOk, content: "", ...outcome }],
      rest: [
        ["text", { content: "word0 " }],
        ["done", { status: "completed", output: "word0 ", turns: 2 }],
      ],
      read: [expect.stringMatching(/^a host that /), text],
      asked,
    };
  }

  async function flood(response: ServerResponse): Promise<void> {
    const isOver = new AbortController();
    response.once("close", () => isOver.abort());
    while (!isOver.signal.aborted) {
      response.write(" ".repeat(65_536));
      await new Promise((next) => setImmediate(next));
    }
  }
});

describe("a message is refused", () => {
  const registry = "failed to build registry: ";
  const cases = [
    [
      [{ ...searchDocs, name: "a-b" }],
      'create remote tool a-b: invalid tool name "a-b": must match [a-zA-Z][a-zA-Z0-9_]*',
    ],
    [[{ ...searchDocs, name: "list_dir" }], "register remote list_dir: tool already registered: list_dir"],
    [[searchDocs, searchDocs], "register remote search_docs: tool already registered: search_docs"],
    [
      [{ ...searchDocs, parameters: [1] }],
      "create remote tool search_docs: parameters must be a JSON Schema of an object",
    ],
  ] as const;

  test("for an invalid tool", async () => {
    const stage = await openStage({ callbackBaseUrl: "https://app.example" });
    for (const [remote, problem] of cases) {
      const [code, { error = "" }] = await sendFirst({ stage, remote, builtin: ["list_dir"] });
      const text = String(error).replace(registry, "");
      expect.soft([code, text]).toEqual([400, problem]);
    }
  });

  test("without a callback host", async () => {
    expect(await sendFirst({ stage: await openStage() })).toEqual([
      400,
      {
        error: `${registry}create remote tool search_docs: callback.base_url is missing: give one when you create the session`,
      },
    ]);
  });

  test("of a client whose key is stored as a hash, when no secret is shared", async () => {
    const stage = await openStage({
      callbackBaseUrl: "https://app.example",
      authAdminToken: "the-admin-token-of-tests",
    });
    const made = await fetch(`${stage.service.url}/v1/auth/keys`, {
      method: "POST",
      headers: { authorization: "Bearer the-admin-token-of-tests", "content-type": "application/json" },
      body: '{"client_id":"hashed"}',
    });
    const { key } = (await made.json()) as { key: string };
    const call = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${key}` };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await (await fetch(`${stage.service.url}${path}`, init)).json()) as Answer;
    };
    const { session_id } = await call("/v1/sessions", { agent: { name: "x", tools: { remote: [searchDocs] } } });
    const { error } = await call(`/v1/sessions/${session_id}/messages`, { message: "go" });
    expect(error).toMatch(/^failed to build registry: create remote tool search_docs: its calls cannot be signed: /);
  });
});

test("a call belongs to the trace of its run, below the span of its tool", async ({ host }) => {
  const collector = await openCollector();
  const stage = await openStage({ tracingEndpoint: collector.url });
  await converse({ stage, baseUrl: host.baseUrl });
  const span = await until("the tool's span", () =>
    collector.spans.find(({ name }) => name.startsWith("execute_tool")),
  );
  expect(host.calls[0]?.headers.traceparent).toBe(`00-${span.traceId}-${span.spanId}-01`);
});

test("a tool that no provider supports is left out, and the run has the others", async ({ host }) => {
  const stage = await openStage();
  const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ properties: { a: inner } }), {});
  const remote = [
    { ...searchDocs, name: "a_list", parameters: { type: "array", items: { type: "string" } } },
    searchDocs,
    { ...searchDocs, name: "too_deep", parameters: deep },
  ];
  stage.provider.respond(answer("done"));
  const [code, sent] = await sendFirst({ stage, baseUrl: host.baseUrl, remote, builtin: ["list_dir"] });
  expect([code, sent.tools_registered]).toEqual([202, ["list_dir", "search_docs"]]);
  expect(told(await Array.fromAsync(stage.api.followSession(String(sent.session_id)))).at(-1)).toMatchObject([
    "done",
    {},
  ]);
  expect(await toolsTold(stage.provider)).toMatchObject([
    { function: { name: "list_dir" } },
    { function: { name: "search_docs" } },
  ]);
  expect(await sendFirst({ stage, baseUrl: host.baseUrl, remote: [remote[0], remote[0]] as typeof remote })).toEqual([
    400,
    { error: "failed to build registry: register remote a_list: tool already registered: a_list" },
  ]);
});

test("arguments that cannot be checked here reach the host", async ({ host }) => {
  const stage = await openStage();
  const parameters = { type: "object", properties: { query: { type: "string", pattern: "^(?!x)" } } };
  await converse({ stage, baseUrl: host.baseUrl, remote: [{ ...searchDocs, parameters }] }, '{"query":"xyz"}');
  expect(JSON.parse(host.calls[0]?.body ?? "")).toMatchObject({ arguments: { query: "xyz" } });
  expect(await toolsTold(stage.provider)).toMatchObject([{ function: { parameters } }]);
});

test("PHP's empty array as parameters means no parameters", async ({ host }) => {
  const stage = await openStage();
  const remote = [{ ...searchDocs, parameters: [] }];
  expect((await converse({ stage, baseUrl: host.baseUrl, remote }, ""))[0]).toEqual([
    "tool_call",
    { tool: "search_docs", args: {} },
  ]);
  expect(JSON.parse(host.calls[0]?.body ?? "")).toMatchObject({ arguments: {} });
});

test("arguments of 1 MiB reach the host, and those of 5 MiB give the model an error", async ({ host }) => {
  const stage = await openStage();
  const { provider } = stage;
  const sizes = [1_048_576, 5_242_880];
  for (const [index, size] of sizes.entries()) {
    const json = `{"query":"${"x".repeat(size - '{"query":""}'.length)}"}`;
    provider.respond(callInPieces({ id: `call_${index}`, name: "search_docs", arguments: json }));
  }
  provider.respond(answer("done"));
  const [, { session_id: sessionId }] = await sendFirst({ stage, baseUrl: host.baseUrl });
  const events = told(await Array.fromAsync(stage.api.followSession(String(sessionId))));
  const error = "invalid arguments: too large: 5242880 bytes (max 1048576)";
  expect([events[1], events[3], events.at(-1)]).toEqual([
    ["tool_result", { tool: "search_docs", success: true, content: "ok" }],
    ["tool_result", { tool: "search_docs", success: false, content: "", error }],
    ["done", { status: "completed", output: "done", turns: 3 }],
  ]);
  expect(host.calls.map(({ body }) => JSON.parse(body).arguments.query.length)).toEqual([1_048_564]);
  expect((await provider.request(2)).body.messages.at(-1)).toMatchObject({ content: `Error: ${error}` });
});

test("half a character in an answer is replaced before any reader gets it", async ({ host }) => {
  const stage = await openStage();
  host.answer({ success: true, content: "a\ud83d" }, { success: false, error: "\ude00b" });
  const found = await converse({ stage, baseUrl: host.baseUrl });
  expect(found[1]).toMatchObject(["tool_result", { content: "a\ufffd" }]);
  const failed = await converse({ stage, baseUrl: host.baseUrl });
  expect(failed[1]).toMatchObject(["tool_result", { error: "\ufffdb" }]);
  const read = await Promise.all([1, 3].map((index) => stage.provider.request(index)));
  expect(read.map(({ body }) => body.messages.at(-1)?.content)).toEqual(["a\ufffd", "Error: \ufffdb"]);
});
