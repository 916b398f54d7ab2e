// Tools of callers, called over real sockets at a host with the checks of the PHP client library.

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
import { createInternet, openEgress } from "../egress/internet.ts";
import { type CallbackAnswer, type CallbackHost, startCallbackHost, status } from "../fakes/callback-host.ts";
import { createPatientClock } from "../harness/patient-clock.ts";
import { nowhere } from "./workspace.ts";

const test = base.extend("host", () => openHost());

const secret = "the secret of the callers";
const traceParent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01";

interface Work {
  /** The waits between attempts. */
  readonly delaysMs: readonly number[];
  /** Calls the tool as a model would. */
  call(args?: string, options?: { readonly id?: string }): Promise<ToolOutcome>;
}

interface Setting {
  readonly baseUrl: string;
  readonly random?: () => number;
  readonly egress?: Partial<Parameters<typeof openEgress>[0]>;
}

/** Waits between attempts pass at once. */
function setWork({ baseUrl, random = () => 0.5, egress = {} }: Setting): Work {
  const delaysMs: number[] = [];
  const limits = createPatientClock(5_000, 0);
  const sleep: Clock["sleep"] = (delayMs, signal) => {
    if (delayMs < 5_000) {
      delaysMs.push(delayMs);
    }
    return limits.sleep(delayMs, signal);
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
  const remote = [create(RemoteToolSchema, { name: "search_docs", description: "Searches", parameters: "[]" })];
  const callback = create(CallbackSchema, { baseUrl });
  const session = { client: sharedClient("app"), name: "s-1", callback };
  const [tool = expect.fail("no tool")] = selectTools(create(AgentToolsSchema, { remote }), session).tools;
  return {
    delaysMs,
    call: (args = "{}", { id = "call_1" } = {}) => {
      const { signal } = new AbortController();
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

test("an id that does not fit a header is escaped", async ({ host }) => {
  const { call } = setWork({ baseUrl: host.baseUrl });
  await call("{}", { id: "a b\r\nx-evil: 1 é\ud800" });
  expect(host.calls[0]?.headers["idempotency-key"]).toBe("a%20b%0D%0Ax-evil%3A%201%20%C3%A9%EF%BF%BD");
  expect(host.calls[0]?.headers).not.toHaveProperty("x-evil");
});

describe("an answer", () => {
  const longText = "y".repeat(contentBytesMax + 1);
  const cases: readonly (readonly [string, CallbackAnswer, ToolOutcome])[] = [
    ["without content", { success: true }, { content: "" }],
    ["of failure without a word", { success: false }, { error: "" }],
    ["that does not say", { content: "x" }, { error: "" }],
    ["of null", status(200, "null"), { error: "" }],
    ["with a byte order mark", status(200, '\ufeff{"success":true,"content":"x"}'), { content: "x" }],
    ["with 201", status(201, '{"success":true,"content":"made"}'), { content: "made" }],
    [
      "over 100 KiB",
      { success: true, content: longText },
      { content: `${longText.slice(1)}\n... (truncated: showing 102400 of 102401 bytes)` },
    ],
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
