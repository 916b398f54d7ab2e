// Runs of the service as a collector sees them: from the first span of a caller's request to the span of another replica.

import { expect } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { onGemini } from "../fakes/gemini-provider.ts";
import { type CollectedSpan, openCollector } from "../fakes/otlp-collector.ts";
import { test } from "../fixtures.ts";
import { testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const callerSpanId = "00f067aa0ba902b7";
const traceparent = `00-${traceId}-${callerSpanId}-01`;
const planted = "zanzibar";

async function sendMessage(service: TestService, message: string): Promise<string> {
  const client = new GrpcClient(service.target);
  const { sessionId } = await client.call(SessionService.method.createSession, {
    agent: { name: "traced", tools: { builtin: ["list_dir"] } },
  });
  const request = { sessionId, message };
  return (await client.call(SessionService.method.sendMessage, request, { traceparent })).runId;
}

function byName(spans: readonly CollectedSpan[], operation: string): readonly CollectedSpan[] {
  return spans.filter(({ attributes }) => attributes["gen_ai.operation.name"] === operation);
}

test.each([false, true])("a run is one trace below its caller's span, with content: %j", async (tracingContent) => {
  const collector = await openCollector();
  const service = await startService({ tracingEndpoint: collector.url, tracingContent });
  const runId = await sendMessage(service, `list the files of ${planted} pace=0`);
  const [run] = await until("the run's span", () => {
    const runs = byName(collector.spans, "invoke_agent");
    return runs.length > 0 && runs;
  });
  expect(run).toMatchObject({ name: "invoke_agent traced", traceId, parentSpanId: callerSpanId, links: [] });
  expect(run?.attributes).toMatchObject({
    "runnel.run.id": runId,
    "runnel.run.epoch": 1,
    "runnel.run.status": "completed",
  });
  const chats = byName(collector.spans, "chat");
  const tools = byName(collector.spans, "execute_tool");
  expect(chats.length).toBe(2);
  expect(tools.map(({ name }) => name)).toEqual(["execute_tool list_dir"]);
  for (const child of [...chats, ...tools]) {
    expect(child).toMatchObject({ traceId, parentSpanId: run?.spanId });
  }
  const hits = collector.requests.filter(({ body }) => body.includes(planted)).length;
  expect(hits > 0).toBe(tracingContent);
});

test("a chat has the name of its provider in OpenTelemetry's conventions", async ({ server: provider }) => {
  provider.respond(
    onGemini(({ text, finish }) => {
      text("ok");
      finish("STOP");
    }),
  );
  const collector = await openCollector();
  const flags = { geminiBaseUrl: `${provider.origin}/v1beta`, defaultModel: "gemini-2.5-flash" };
  await sendMessage(await startService({ ...flags, tracingEndpoint: collector.url }), "hello");
  const [chat] = await until("the chat's span", () => {
    const chats = byName(collector.spans, "chat");
    return chats.length > 0 && chats;
  });
  expect(chat?.attributes["gen_ai.provider.name"]).toBe("gcp.gemini");
});

test("a run that is handed on has a span on each replica, the second linked to the first", async () => {
  const collector = await openCollector();
  const databaseUrl = await testDatabase();
  const first = await startService({ databaseUrl, tracingEndpoint: collector.url });
  await startService({ databaseUrl, tracingEndpoint: collector.url });
  // Takes some seconds, so that the first replica leaves in the middle of it.
  await sendMessage(first, "list the files pace=100");
  await first.close();
  const [before, after] = await until("both spans", () => {
    const runs = byName(collector.spans, "invoke_agent");
    return runs.length === 2 && runs;
  });
  expect(before?.attributes["runnel.run.status"]).toBe("handed-on");
  expect(after?.attributes).toMatchObject({ "runnel.run.status": "completed", "runnel.run.epoch": 2 });
  expect(after).toMatchObject({ traceId, parentSpanId: callerSpanId, links: [{ traceId, spanId: before?.spanId }] });
});
