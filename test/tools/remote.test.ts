// Tools of callers, called over real sockets at a host with the checks of the PHP client library.

import type { ServerResponse } from "node:http";
import { create } from "@bufbuild/protobuf";
import { test as base, describe, expect, onTestFinished } from "vitest";
import { AgentToolsSchema, CallbackSchema, RemoteToolSchema } from "#gen/runnel/v1/session_pb.js";
import { callTimeoutMs, runCall } from "../../src/agent/tools/call.ts";
import { contentBytesMax } from "../../src/agent/tools/cap.ts";
import { createSelectTools } from "../../src/agent/tools/select-tools.ts";
import type { ToolOutcome } from "../../src/agent/tools/tool.ts";
import { loadConfig } from "../../src/app/settings.ts";
import { sharedClient } from "../../src/platform/auth/caller.ts";
import { KeyRing } from "../../src/platform/auth/key-ring.ts";
import { createSignRequest } from "../../src/platform/auth/sign-request.ts";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { createInternet, listenRaw, openEgress } from "../egress/internet.ts";
import { type CallbackAnswer, type CallbackHost, cut, startCallbackHost, status } from "../fakes/callback-host.ts";
import { createPatientClock, type PatientClock } from "../harness/patient-clock.ts";
import { until } from "../harness/wait.ts";
import { nowhere } from "./workspace.ts";

const test = base.extend("host", () => openHost());

const secret = "the secret of the callers";
const traceParent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

interface Work {
  /** The clock of the timeouts of single attempts. */
  readonly limits: PatientClock;
  /** The waits between attempts. */
  readonly delaysMs: readonly number[];
  /** Calls the tool as a model would. */
  call(args?: string, options?: { readonly id?: string; readonly signal?: AbortSignal }): Promise<ToolOutcome>;
}

interface Setting {
  readonly baseUrl: string;
  readonly random?: () => number;
  readonly timeoutSec?: number;
  readonly parameters?: string;
  readonly egress?: Partial<Parameters<typeof openEgress>[0]>;
}

/** Waits between attempts pass at once; timeouts pass when the test says so. */
function setWork({ baseUrl, random = () => 0.5, timeoutSec = 0, parameters = "[]", egress = {} }: Setting): Work {
  const delaysMs: number[] = [];
  const limits = createPatientClock(5_000, 0);
  const callLimits = createPatientClock(5_000, 0);
  const sleep: Clock["sleep"] = (delayMs, signal) => {
    if (delayMs < 5_000) {
      delaysMs.push(delayMs);
    }
    return (delayMs < callTimeoutMs ? limits : callLimits).sleep(delayMs, signal);
  };
  const clock = { ...systemClock, sleep };
  const keyRing = new KeyRing(loadConfig({}, { authHmacSecret: secret }));
  const selectTools = createSelectTools({
    mcp: { check: () => {} },
    selectBuiltin: () => [],
    egress: openEgress({ clock, exceptions: ["127.0.0.1@127.0.0.1/32"], ...egress }),
    clock,
    random,
    sign: createSignRequest({ keyRing, clock }),
    canSign: () => true,
    callbackBaseUrl: "",
    callbackTimeoutMs: 30_000,
  });
  const remote = [create(RemoteToolSchema, { name: "search_docs", description: "Searches", parameters })];
  const callback = create(CallbackSchema, { baseUrl, timeoutSec });
  const session = { client: sharedClient("app"), name: "s-1", callback };
  const [tool = expect.fail("no tool")] = selectTools(create(AgentToolsSchema, { remote }), session).tools;
  return {
    limits,
    delaysMs,
    call: (args = "{}", { id = "call_1", signal = new AbortController().signal } = {}) => {
      const context = { ...nowhere, sessionId: "s1", signal, call: { id, written: args, traceParent } };
      return runCall(tool, args, context, { timeoutMs: callTimeoutMs, clock });
    },
  };
}

async function openHost(): Promise<CallbackHost> {
  const host = await startCallbackHost({ secret });
  onTestFinished(() => host[Symbol.asyncDispose]());
  return host;
}

test("a call is a signed POST in the document's form", async ({ host }) => {
  const { call } = setWork({ baseUrl: `${host.baseUrl}/?tenant=1` });
  host.answer({ success: true, content: "found <3>" });
  expect(await call('{"query":"a<b","limit":{"z":1,"a":[2.5,null]}}')).toEqual({ content: "found <3>" });
  expect(host.refusals).toEqual([]);
  const [made = expect.fail("no call")] = host.calls;
  expect(made.path).toBe("POST /api/agent-runner/tools/search_docs?tenant=1");
  expect(made.body).toBe(
    '{"arguments":{"limit":{"a":[2.5,null],"z":1},"query":"a\\u003cb"},"session_id":"s-1","tool_name":"search_docs"}',
  );
  expect(made.headers).toMatchObject({
    host: new URL(host.baseUrl).host,
    "content-type": "application/json",
    "x-session-id": "s-1",
    "idempotency-key": "call_1",
    traceparent: traceParent,
  });
  expect(made.headers).not.toHaveProperty("x-client-id");
});

test("without arguments an empty object is sent", async ({ host }) => {
  const { call } = setWork({ baseUrl: host.baseUrl });
  for (const args of ["", "{}", "null"]) {
    await call(args);
  }
  expect(new Set(host.calls.map(({ body }) => body))).toEqual(
    new Set(['{"arguments":{},"session_id":"s-1","tool_name":"search_docs"}']),
  );
});

test("an id that does not fit a header is escaped", async ({ host }) => {
  const { call } = setWork({ baseUrl: host.baseUrl });
  await call("{}", { id: "a b\r\nx-evil: 1 é\ud800" });
  expect(host.calls[0]?.headers["idempotency-key"]).toBe("a%20b%0D%0Ax-evil%3A%201%20%C3%A9%EF%BF%BD");
  expect(host.calls[0]?.headers).not.toHaveProperty("x-evil");
});

describe("an answer", () => {
  const unread = "callback failed after retries: parse response:";
  const longText = "y".repeat(contentBytesMax + 1);
  const cases: readonly (readonly [string, CallbackAnswer, ToolOutcome])[] = [
    ["of success", { success: true, content: "text" }, { content: "text" }],
    ["without content", { success: true }, { content: "" }],
    ["of failure", { success: false, error: "none found" }, { error: "none found" }],
    ["of failure without a word", { success: false }, { error: "" }],
    ["that does not say", { content: "x" }, { error: "" }],
    ["of null", status(200, "null"), { error: "" }],
    ["with a byte order mark", status(200, '\ufeff{"success":true,"content":"x"}'), { content: "x" }],
    ["with 201", status(201, '{"success":true,"content":"made"}'), { content: "made" }],
    ["that is not JSON", status(200, "<html>"), { error: `${unread} the answer is not JSON` }],
    ["that is empty", status(204), { error: `${unread} the answer is empty` }],
    ["of an array", status(200, "[]"), { error: `${unread} the answer is not a JSON object` }],
    ["of a number", status(200, "5"), { error: `${unread} the answer is not a JSON object` }],
    ["with content of an object", { success: true, content: {} }, { error: `${unread} content is not a string` }],
    ["with an error of an object", { success: false, error: {} }, { error: `${unread} error is not a string` }],
    ["with a success of text", { success: "yes", content: "" }, { error: `${unread} success is not true or false` }],
    [
      "of 10 MB",
      { success: true, content: "x".repeat(10_000_000) },
      { error: `${unread} the answer is longer than 204800 bytes` },
    ],
    [
      "over 100 KiB",
      { success: true, content: longText },
      { content: `${longText.slice(1)}\n... (truncated: showing 102400 of 102401 bytes)` },
    ],
    ["of 422", status(422, "no such query"), { error: "callback returned 422: no such query" }],
    [
      "of 404 as the PHP library",
      status(404, '{"success":false}'),
      { error: 'callback returned 404: {"success":false}' },
    ],
    [
      "that redirects",
      status(302, "", { location: "http://169.254.169.254/" }),
      { error: "callback returned 302: redirects are not followed" },
    ],
  ];

  test.each(cases)("%s ends the call", async (_, answer, outcome) => {
    const host = await openHost();
    const { call, delaysMs } = setWork({ baseUrl: host.baseUrl });
    host.answer(answer);
    expect(await call()).toEqual(outcome);
    expect(host.calls).toHaveLength(1);
    expect(delaysMs).toEqual([]);
  });
});

describe("a call is retried", () => {
  test("after 5xx, each time with another nonce and the same key, after 1, 2 and 4 s", async ({ host }) => {
    const { call, delaysMs } = setWork({ baseUrl: host.baseUrl });
    host.answer(status(500, "a"), status(502), status(599), { success: true, content: "at last" });
    expect(await call()).toEqual({ content: "at last" });
    expect(delaysMs).toEqual([1_000, 2_000, 4_000]);
    expect(host.refusals).toEqual([]);
    expect(new Set(host.calls.map(({ headers }) => headers["x-nonce"])).size).toBe(4);
    expect(new Set(host.calls.map(({ headers }) => headers["idempotency-key"]))).toEqual(new Set(["call_1"]));
    expect(new Set(host.calls.map(({ body }) => body)).size).toBe(1);
  });

  test.for([
    [0, [800, 1_600, 3_200]],
    [1, [1_200, 2_400, 4_800]],
  ] as const)("a fifth sooner or later, at random", async ([chance, delays], { host }) => {
    const { call, delaysMs } = setWork({ baseUrl: host.baseUrl, random: () => chance });
    host.answer(status(503, "down"));
    expect(await call()).toEqual({
      error: "callback failed after retries: max retries exceeded: callback returned 503: down",
    });
    expect(delaysMs.map(Math.round)).toEqual(delays);
    expect(host.calls).toHaveLength(4);
  });

  test("after the host closed before or in its answer, and when it is down", async ({ host }) => {
    const { call } = setWork({ baseUrl: host.baseUrl });
    host.answer(cut(""), cut('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n{"success":true,"content":"lie"}'), {
      success: true,
      content: "whole",
    });
    expect(await call()).toEqual({ content: "whole" });
    expect(host.calls).toHaveLength(3);
    const down = setWork({ baseUrl: "http://127.0.0.1:1/" });
    const refused = "callback failed after retries: max retries exceeded: connection refused";
    expect(await down.call()).toEqual({ error: refused });
    expect(down.delaysMs).toEqual([1_000, 2_000, 4_000]);
  });

  test("after a timeout, which the session sets", async () => {
    let connections = 0;
    const port = await listenRaw(() => {
      connections += 1;
    });
    const { call, limits } = setWork({ baseUrl: `http://127.0.0.1:${port}`, timeoutSec: 15 });
    const outcome = call();
    for (const attempt of [1, 2, 3, 4]) {
      await until(`attempt ${attempt}`, () => connections === attempt && limits.sleeping === 1);
      limits.pass();
    }
    expect(await outcome).toEqual({
      error: "callback failed after retries: max retries exceeded: no complete answer within 15 s",
    });
  });
});

test("a call ends with its run", async ({ host }) => {
  const stop = new AbortController();
  const { call } = setWork({ baseUrl: host.baseUrl });
  const closed = Promise.withResolvers<void>();
  host.answer((response: ServerResponse) => void response.once("close", () => closed.resolve()));
  const outcome = call("{}", { signal: stop.signal });
  await host.called(1);
  stop.abort(new Error("context canceled"));
  expect(await outcome).toEqual({ error: "context canceled" });
  await closed.promise;
});

test("arguments that violate the schema are never sent", async ({ host }) => {
  const parameters = '{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}';
  const { call } = setWork({ baseUrl: host.baseUrl, parameters });
  expect(await call('{"q":1}')).toEqual({ error: "invalid arguments: /q must be string (#/properties/q/type)" });
  expect(await call("{}")).toEqual({
    error: "invalid arguments: the arguments must have required property 'q' (#/required)",
  });
  expect(await call("[]")).toMatchObject({
    error: expect.stringMatching(/^invalid arguments: expected a JSON object/),
  });
  expect(await call(JSON.stringify({ q: "x".repeat(2_000_000) }))).toEqual({
    error: "invalid arguments: too large: 2000008 bytes (max 1048576)",
  });
  expect(host.calls).toEqual([]);
  expect(await call('{"q":"x"}')).toEqual({ content: "ok" });
});

test("a name whose address becomes private between two attempts is refused by the second one", async ({ host }) => {
  host.answer(status(503));
  const names = { "rebind.example": { seq: [["203.0.114.10"], ["127.0.0.1"]] } };
  const internet = createInternet(names, { http: Number(new URL(host.baseUrl).port) });
  const { call } = setWork({ baseUrl: "http://rebind.example/", egress: { ...internet.options, exceptions: [] } });
  expect(await call()).toEqual({
    error: "callback failed after retries: connection to private IP 127.0.0.1 is blocked",
  });
  expect(internet.dials).toEqual(["203.0.114.10:80"]);
});
