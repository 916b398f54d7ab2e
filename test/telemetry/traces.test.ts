// Spans as a collector gets them: their shape, their ids, what they must never contain, and that trouble at the collector does
// no harm.

import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { test as base, expect, onTestFinished, vi } from "vitest";
import { Fault } from "../../src/platform/base/fault.ts";
import { openTraces } from "../../src/platform/telemetry/traces/open.ts";
import { noRunSpan, noTraces, type RunSpanFields, type Traces } from "../../src/platform/telemetry/traces.ts";
import { type CollectedSpan, type Collector, openCollector } from "../fakes/otlp-collector.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";

const test = base.extend("stage", () => openStage());

const runId = "01990000-1111-7222-8333-444455556666";
const ownTraceId = "01990000111172228333444455556666";
const callerTraceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpanId = "00f067aa0ba902b7";

const run: RunSpanFields = {
  runId,
  epoch: 1,
  sessionId: "the-session",
  client: "key/secret-tenant",
  agentName: "helper",
  model: "gpt-4o",
  traceParent: undefined,
};
const chat = { provider: "gemini", model: "gemini-pro", maxTokens: 100, temperature: 0.5, turn: 1 };

/** As the contract defines it: other replicas must compute the same id. */
function stintId(epoch: number): string {
  return createHash("sha256").update(`${runId}/${epoch}`).digest("hex").slice(0, 16);
}

const startMs = 1_790_000_000_123;
const batchSpans = 512;

interface Stage {
  readonly traces: Traces;
  readonly collector: Collector;
  readonly clock: ManualClock;
  readonly troubles: string[];
  /** Resolves with all recorded spans so far, by name. */
  flush(): Promise<ReadonlyMap<string, CollectedSpan>>;
}

async function openStage(choice: { recordsContent?: boolean; at?: (url: string) => string } = {}): Promise<Stage> {
  const { recordsContent = false, at = (url) => url } = choice;
  const collector = await openCollector();
  const clock = createManualClock({ nowMs: startMs });
  const troubles: string[] = [];
  const traces = await openTraces({
    endpoint: at(collector.url),
    recordsContent,
    version: "1.2.3",
    clock,
    onTrouble: (error) => troubles.push(error.message),
  });
  onTestFinished(() => traces.close());
  const flush = async () => {
    await traces.close();
    return new Map(collector.spans.map((span) => [span.name, span]));
  };
  return { traces, collector, clock, troubles, flush };
}

test("a run, its chats and its tools are one trace, each with the attributes of the conventions", async () => {
  const { traces, clock, flush } = await openStage();
  const span = traces.startRun(run);
  const first = span.startChat(chat);
  clock.advance(250);
  first.firstPart();
  clock.advance(750);
  first.firstPart();
  first.end({ finishReason: "tool-calls", usage: { promptTokens: 12, completionTokens: 34 } });
  span.startTool({ name: "list_dir", callId: "call-1" }).end({});
  span.end({ status: "completed", usage: { promptTokens: 12, completionTokens: 34 } });
  const spans = await flush();
  expect([...spans.keys()].sort()).toEqual(["chat gemini-pro", "execute_tool list_dir", "invoke_agent helper"]);
  expect(spans.get("invoke_agent helper")).toMatchObject({
    traceId: ownTraceId,
    spanId: stintId(1),
    parentSpanId: "",
    kind: 1,
    links: [],
    statusCode: 0,
    schemaUrl: "https://opentelemetry.io/schemas/1.41.0",
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "helper",
      "gen_ai.conversation.id": "the-session",
      "gen_ai.request.model": "gpt-4o",
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 34,
      "runnel.run.id": runId,
      "runnel.run.epoch": 1,
      "runnel.run.status": "completed",
      "runnel.client.hash": createHash("sha256").update("key/secret-tenant").digest("hex").slice(0, 16),
    },
  });
  expect(spans.get("invoke_agent helper")?.resource).toEqual({
    "service.name": "runnel",
    "service.version": "1.2.3",
    "service.instance.id": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
  });
  expect(spans.get("chat gemini-pro")).toMatchObject({ traceId: ownTraceId, parentSpanId: stintId(1), kind: 3 });
  expect(spans.get("chat gemini-pro")?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "gemini",
    "gen_ai.request.model": "gemini-pro",
    "gen_ai.request.max_tokens": 100,
    "gen_ai.request.temperature": 0.5,
    "gen_ai.response.finish_reasons": ["tool-calls"],
    "gen_ai.response.time_to_first_chunk": 0.25,
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 34,
    "runnel.turn": 1,
  });
  expect(spans.get("execute_tool list_dir")).toMatchObject({ traceId: ownTraceId, parentSpanId: stintId(1), kind: 1 });
  expect(spans.get("execute_tool list_dir")?.attributes).toEqual({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "list_dir",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": "call-1",
  });
});

test("spans of chats and tools have ids of their own and lie within their run", async () => {
  const { traces, clock, collector, flush } = await openStage();
  const span = traces.startRun(run);
  clock.advance(1);
  const one = span.startChat(chat);
  clock.advance(0.25);
  const two = span.startTool({ name: "a", callId: "1" });
  clock.advance(2_000);
  one.end({});
  two.end({});
  span.end({ status: "completed" });
  await flush();
  expect(new Set(collector.spans.map(({ spanId }) => spanId)).size).toBe(3);
  const startNs = BigInt(startMs) * 1_000_000n;
  expect(collector.spans.map((each) => [each.name, each.startNs - startNs, each.endNs - startNs])).toEqual([
    ["chat gemini-pro", 1_000_000n, 2_001_250_000n],
    ["execute_tool a", 1_250_000n, 2_001_250_000n],
    ["invoke_agent helper", 0n, 2_001_250_000n],
  ]);
});

test("a run without a caller's trace passes on its own", async ({ stage: { traces } }) => {
  expect(traces.startRun(run).traceParent).toBe(`00-${ownTraceId}-${stintId(1)}-01`);
  expect(traces.startRun({ ...run, traceParent: "nonsense" }).traceParent).toBe(`00-${ownTraceId}-${stintId(1)}-01`);
});

test("nothing is recorded for an unsampled caller, and the run passes the flag on", async () => {
  const { traces, collector, flush } = await openStage({ recordsContent: true });
  const text = vi.fn(() => "text");
  const span = traces.startRun({ ...run, traceParent: `00-${callerTraceId}-${callerSpanId}-00` });
  span.startChat({ ...chat, input: text }).end({ output: text });
  span.startTool({ name: "list_dir", callId: "1", arguments: text }).end({ result: text });
  span.end({ status: "completed" });
  expect(span.traceParent).toBe(`00-${callerTraceId}-${stintId(1)}-00`);
  await flush();
  expect(collector.spans).toEqual([]);
  expect(text).not.toHaveBeenCalled();
});

test("without content recording no text is in a span or even made", async ({ stage: { traces, collector, flush } }) => {
  const planted = "planted-secret";
  const text = vi.fn(() => planted);
  const span = traces.startRun({ ...run, client: `key/${planted}` });
  const chatSpan = span.startChat({ ...chat, input: text });
  chatSpan.end({ output: text, failureCode: `the server said: ${planted} 7` });
  span.startTool({ name: "a", callId: "1", arguments: text }).end({ result: text, error: `no file ${planted}` });
  span.end({ status: "failed", code: `cannot ${planted}` });
  const spans = await flush();
  expect(text).not.toHaveBeenCalled();
  expect(spans.size).toBe(3);
  expect(collector.requests.filter(({ body }) => body.includes(planted))).toEqual([]);
  for (const { attributes, statusCode, statusMessage } of spans.values()) {
    expect([attributes["error.type"], statusCode, statusMessage]).toEqual(["_OTHER", 2, ""]);
  }
});

test("with content recording texts are in the spans", async () => {
  const { traces, flush } = await openStage({ recordsContent: true });
  const span = traces.startRun(run);
  span.startChat({ ...chat, input: () => "the question" }).end({ output: () => "the answer" });
  const tool = span.startTool({ name: "read_file", callId: "1", arguments: () => '{"path":"a"}' });
  tool.end({ error: "no file a", result: () => "nothing" });
  span.end({ status: "completed" });
  const spans = await flush();
  expect(spans.get("chat gemini-pro")?.attributes).toMatchObject({
    "gen_ai.input.messages": "the question",
    "gen_ai.output.messages": "the answer",
  });
  expect(spans.get("execute_tool read_file")).toMatchObject({
    statusMessage: "no file a",
    attributes: {
      "error.type": "_OTHER",
      "gen_ai.tool.call.arguments": '{"path":"a"}',
      "gen_ai.tool.call.result": "nothing",
    },
  });
});

test("texts are cut between characters, and a text that throws is left out", async () => {
  const { traces, flush } = await openStage({ recordsContent: true });
  const span = traces.startRun({ ...run, agentName: "é".repeat(200) });
  const exact = "b".repeat(8_192);
  span.startTool({ name: "cut", callId: "1", arguments: () => `a${"😀".repeat(5_000)}` }).end({ result: () => exact });
  const fail = (): string => {
    throw new Error("not serializable");
  };
  span.startTool({ name: "fails", callId: "2", arguments: fail }).end({ result: () => "\ud800" });
  span.end({ status: "completed" });
  const spans = await flush();
  const cut = spans.get("execute_tool cut")?.attributes;
  expect(cut?.["gen_ai.tool.call.arguments"]).toBe(`a${"😀".repeat(2_047)}`);
  expect(cut?.["gen_ai.tool.call.result"]).toBe(exact);
  expect(spans.get("execute_tool fails")?.attributes).not.toHaveProperty("gen_ai.tool.call.arguments");
  expect(spans.get(`invoke_agent ${"é".repeat(128)}`)?.attributes["gen_ai.agent.name"]).toBe("é".repeat(128));
});

test("the rest of a cut text is not kept in memory while its span waits", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const { traces, flush } = await openStage({ recordsContent: true });
  const span = traces.startRun(run);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 200; index += 1) {
    const text = `${index} ${"abcdefgh".repeat(131_072)}`;
    span.startTool({ name: "big", callId: String(index), arguments: () => text }).end({});
  }
  collectGarbage();
  // 200 MiB existed; what stays is 200 times 8 KiB, and what the process allocates meanwhile.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1_048_576);
  await flush();
});

test.for(["host.run_lost", "RATE_LIMITED", "timed-out", "503"])(
  "the code %s of a failure is in the span",
  async (code, { stage: { traces, collector, flush } }) => {
    const span = traces.startRun(run);
    span.startChat(chat).end({ failureCode: code });
    span.startTool({ name: "a", callId: "1" }).end({ error: code });
    span.end({ status: "failed", code });
    await flush();
    const errors = collector.spans.map(({ attributes, statusCode }) => [attributes["error.type"], statusCode]);
    // A tool returns any text, and its text may look like a code.
    expect(errors).toEqual([
      [code, 2],
      ["_OTHER", 2],
      [code, 2],
    ]);
  },
);

test.each([
  ["completed", 0, undefined],
  ["cancelled", 0, undefined],
  ["waiting", 0, undefined],
  ["handed-on", 0, undefined],
  ["failed", 2, "failed"],
  ["lost", 2, "lost"],
] as const)("a run that ends %s has the status %i", async (status, statusCode, errorType) => {
  const { traces, collector, flush } = await openStage();
  traces.startRun(run).end({ status });
  await flush();
  expect(collector.spans.map((span) => [span.statusCode, span.attributes["error.type"]])).toEqual([
    [statusCode, errorType],
  ]);
  expect(collector.spans[0]?.attributes["runnel.run.status"]).toBe(status);
});

test("spans that a driver leaves open end with its run, and only the first end counts", async () => {
  const { traces, collector, flush } = await openStage({ recordsContent: true });
  const late = vi.fn(() => "late");
  const span = traces.startRun({ ...run, agentName: "", model: "" });
  const left = span.startChat(chat);
  const tool = span.startTool({ name: "slow", callId: "1" });
  tool.end({});
  tool.end({ error: "late", result: late });
  span.end({ status: "cancelled" });
  left.firstPart();
  left.end({ finishReason: "stop", output: late });
  span.end({ status: "failed", code: "late" });
  await flush();
  const ends = collector.spans.map(({ name, attributes }) => [name, attributes["error.type"]]);
  expect(ends).toEqual([
    ["execute_tool slow", undefined],
    ["chat gemini-pro", "cancelled"],
    ["invoke_agent", undefined],
  ]);
  expect(collector.spans[1]?.attributes).not.toHaveProperty("gen_ai.response.finish_reasons");
  expect(collector.spans[2]?.attributes).not.toHaveProperty("gen_ai.agent.name");
  expect(late).not.toHaveBeenCalled();
});

test.each([
  ["", "/v1/traces"],
  ["/", "/v1/traces"],
  ["/otlp", "/otlp/v1/traces"],
  ["/v1/traces", "/v1/traces"],
])("spans for an endpoint with the path %j go to %s", async (path, expected) => {
  const { traces, collector, flush } = await openStage({ at: (url) => `${url}${path}` });
  traces.startRun(run).end({ status: "completed" });
  await flush();
  expect(collector.requests.map((request) => request.path)).toEqual([expected]);
});

test("credentials for the collector come from the URL and from the environment", async () => {
  vi.stubEnv("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=the-key");
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const { traces, collector, flush } = await openStage({ at: (url) => url.replace("//", "//me:pass@") });
  traces.startRun(run).end({ status: "completed" });
  await flush();
  expect(collector.requests[0]?.headers).toMatchObject({
    authorization: `Basic ${Buffer.from("me:pass").toString("base64")}`,
    "x-collector-key": "the-key",
    "content-type": "application/x-protobuf",
  });
});

test("an error of the collector is reported once a minute, without its URL", async () => {
  const { traces, collector, clock, troubles } = await openStage({ at: (url) => url.replace("//", "//me:pass@") });
  collector.answerWith(400);
  // A full batch is sent at once, and the next one only after the answer to it.
  const loseBatches = async (upTo: number): Promise<void> => {
    for (let index = 0; index < batchSpans; index += 1) {
      traces.startRun(run).end({ status: "completed" });
    }
    await until("the batch", () => collector.requests.length === upTo);
  };
  await loseBatches(1);
  await until("the first report", () => troubles.length === 1);
  await loseBatches(2);
  await loseBatches(3);
  expect(troubles).toEqual(["spans do not reach the collector: 400"]);
  clock.advance(60_000);
  await loseBatches(4);
  await until("the second report", () => troubles.length === 2);
  expect(troubles[1]).toBe(troubles[0]);
});

test("closing does not wait for a collector that takes spans and never answers", async () => {
  const { traces, collector, clock } = await openStage();
  collector.answerWith(undefined);
  traces.startRun(run).end({ status: "completed" });
  const closed = traces.close();
  await until("the batch", () => collector.requests.length === 1);
  await clock.slept(1);
  clock.advance(5_000);
  await closed;
  expect(clock.delaysMs).toEqual([5_000]);
});

test.each(["collector:4318", "ftp://collector", "not a url with me:pass@"])(
  "the endpoint %j is refused with the name of its setting and without its value",
  async (endpoint) => {
    const clock = createManualClock();
    const opening = openTraces({ endpoint, recordsContent: false, version: "1", clock, onTrouble: () => {} });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Fault);
    expect(error).toMatchObject({ reason: "CONFIG_INVALID", message: expect.stringContaining("tracing.endpoint") });
    expect(String(error)).not.toContain(endpoint);
  },
);

test("without an endpoint there are no traces, and every call does nothing", async () => {
  const clock = createManualClock();
  const traces = await openTraces({ endpoint: "", recordsContent: true, version: "1", clock, onTrouble: () => {} });
  expect(traces).toBe(noTraces);
  expect(traces.startRun(run)).toBe(noRunSpan);
  const text = vi.fn(() => "text");
  noRunSpan.startChat({ ...chat, input: text }).end({ output: text });
  noRunSpan.startTool({ name: "a", callId: "1", arguments: text }).end({ result: text });
  expect(text).not.toHaveBeenCalled();
  expect(noRunSpan.traceParent).toBeUndefined();
  await traces.close();
});
