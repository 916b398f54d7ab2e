// The trace that a caller names, from the header of any surface to the run; and what the service does with and without a
// collector.

import { createClient, type Transport } from "@connectrpc/connect";
import { expect } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { connectHttp2Transport, connectJsonTransport, grpcWebFetchTransport } from "../conformance/transports.ts";
import { openCollector } from "../fakes/otlp-collector.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { query, testDatabase } from "../harness/database.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { type ServiceProcess, startProcess } from "../harness/process.ts";
import { sendRaw } from "../harness/raw-http.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceParent = `00-${traceId}-00f067aa0ba902b7-01`;
const message = "say hello pace=0";

type Headers = Readonly<Record<string, string>>;
/** Sends a message to the session, with these headers beside the credentials. */
type Send = (service: Pick<TestService, "url" | "target">, sessionId: string, headers: Headers) => Promise<string>;

const surfaces: readonly (readonly [name: string, send: Send])[] = [
  ["gRPC", sendByGrpc],
  ["REST", sendByRest],
  ["Connect, HTTP/2", (service, ...rest) => sendByConnect(connectHttp2Transport(service.url), ...rest)],
  ["Connect, HTTP/1.1, JSON", (service, ...rest) => sendByConnect(connectJsonTransport(service.url), ...rest)],
  ["gRPC-Web", (service, ...rest) => sendByConnect(grpcWebFetchTransport(service.url), ...rest)],
];

async function sendByGrpc({ target }: Pick<TestService, "target">, sessionId: string, headers: Headers) {
  const request = { sessionId, message };
  return (await new GrpcClient(target).call(SessionService.method.sendMessage, request, headers)).runId;
}

async function sendByConnect(transport: Transport, sessionId: string, headers: Headers): Promise<string> {
  const client = createClient(SessionService, transport);
  return (await client.sendMessage({ sessionId, message }, { headers: { ...credentialsOf(), ...headers } })).runId;
}

async function sendByRest({ url }: Pick<TestService, "url">, sessionId: string, headers: Headers): Promise<string> {
  const answer = await fetch(`${url}/v1/sessions/${sessionId}/messages`, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": "application/json", ...headers },
    body: JSON.stringify({ message }),
  });
  expect(answer.status).toBe(202);
  const { run_id: runId } = (await answer.json()) as { run_id: string };
  return runId;
}

async function createSession({ target }: Pick<TestService, "target">): Promise<string> {
  return (await new GrpcClient(target).call(SessionService.method.createSession, { agent: { name: "traced" } }))
    .sessionId;
}

async function storedTraceParent(databaseUrl: string, runId: string): Promise<string | null | undefined> {
  const rows = await query<{ trace_parent: string | null }>(databaseUrl, "select trace_parent from run where id = $1", [
    runId,
  ]);
  return rows[0]?.trace_parent;
}

async function reachEnd(databaseUrl: string, runId: string): Promise<string> {
  return await until(`run ${runId} to end`, async () => {
    const rows = await query<{ status: string }>(databaseUrl, "select status from run where id = $1", [runId]);
    const status = rows[0]?.status ?? "";
    return ["completed", "failed", "cancelled"].includes(status) && status;
  });
}

test.each(surfaces)("%s: the caller's trace is stored with the run that a message starts", async (_name, send) => {
  const service = await startService();
  const named = await send(service, await createSession(service), { traceparent: traceParent });
  const unnamed = await send(service, await createSession(service), {});
  expect(await storedTraceParent(service.databaseUrl, named)).toBe(traceParent);
  expect(await storedTraceParent(service.databaseUrl, unnamed)).toBeNull();
});

test("an invalid traceparent is ignored, and so are two of them", async ({ service }) => {
  for (const traceparent of [
    "",
    "nonsense",
    traceParent.toUpperCase(),
    `${traceParent}-00`,
    `${traceParent} `.repeat(99),
  ]) {
    const runId = await sendByRest(service, await createSession(service), { traceparent });
    expect([traceparent, await storedTraceParent(service.databaseUrl, runId)]).toEqual([traceparent, null]);
  }
  const sessionId = await createSession(service);
  const answer = await sendRaw(service.url, {
    method: "POST",
    path: `/v1/sessions/${sessionId}/messages`,
    headers: [
      ["authorization", credentialsOf().authorization ?? ""],
      ["traceparent", traceParent],
      ["traceparent", traceParent],
    ],
    body: Buffer.from(JSON.stringify({ message })),
  });
  expect(answer.status).toBe(202);
  expect(await storedTraceParent(service.databaseUrl, JSON.parse(answer.body).run_id)).toBeNull();
});

test("a repeated message keeps the trace of the first one", async ({ service, client }) => {
  const request = { sessionId: await createSession(service), message, requestId: "again" };
  const { runId } = await client.call(SessionService.method.sendMessage, request, { traceparent: traceParent });
  const other = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`;
  const second = await client.call(SessionService.method.sendMessage, request, { traceparent: other });
  expect(second.runId).toBe(runId);
  expect(await storedTraceParent(service.databaseUrl, runId)).toBe(traceParent);
});

test("an unreachable collector changes nothing for runs, and the service still stops in time", async () => {
  const collector = await openCollector();
  await collector.close();
  const service = await startService({ tracingEndpoint: collector.url });
  const runId = await sendByGrpc(service, await createSession(service), { traceparent: traceParent });
  expect(await reachEnd(service.databaseUrl, runId)).toBe("completed");
  const startedMs = performance.now();
  await service.close();
  expect(performance.now() - startedMs).toBeLessThan(10_000);
});

/**
 * Reports on standard error which modules of OpenTelemetry a process loads: a build writes the name of each before its code.
 * The API is left out, because the metrics library requires it and it does nothing by itself.
 */
const loadHook = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      for (const [name] of Buffer.from(loaded.source ?? "").toString().matchAll(/^\\/\\/ \\S*\\/@opentelemetry\\/(?!api\\/).*$/gm)) {
        console.error("loads " + name);
      }
      return loaded;
    },
  });
`)}`;

async function startWatched(environment: Headers = {}): Promise<ServiceProcess & { readonly databaseUrl: string }> {
  const databaseUrl = await testDatabase();
  const started = await startProcess({
    DATABASE_URL: databaseUrl,
    NODE_OPTIONS: `--import=${loadHook}`,
    ...environment,
  });
  return { ...started, databaseUrl };
}

test("without an endpoint no module of OpenTelemetry is loaded, also when runs have traces", async () => {
  const service = await startWatched();
  const runId = await sendByGrpc(service, await createSession(service), { traceparent: traceParent });
  expect(await reachEnd(service.databaseUrl, runId)).toBe("completed");
  expect(await service.stop()).toBe(0);
  expect(
    service
      .log()
      .split("\n")
      .filter((line) => line.startsWith("loads ")),
  ).toEqual([]);
});

test("with an endpoint OpenTelemetry is loaded", async () => {
  const collector = await openCollector();
  const service = await startWatched({ RUNNEL_TRACING_ENDPOINT: collector.url });
  expect(await service.stop()).toBe(0);
  expect(service.log()).toMatch(/^loads .*\/@opentelemetry\/sdk-trace\//m);
});
