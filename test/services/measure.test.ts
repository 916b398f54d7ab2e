// Calls as metrics: each counts once, by the code that its caller got, on every surface; open calls count as open.

import http2 from "node:http2";
import { Code, ConnectError, createContextValues, type Interceptor, type StreamRequest } from "@connectrpc/connect";
import { status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { createErrorMapper } from "../../src/api/faults.ts";
import { createMeasureInterceptor, MeasuredCall } from "../../src/api/measure.ts";
import { Fault } from "../../src/platform/base/fault.ts";
import { answer } from "../fakes/provider.ts";
import { openProvider } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { startService, type TestService } from "../harness/service.ts";
import { readSse } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { silentEvents } from "../runlog/store.ts";
import { envelope, grpcHead } from "../server/attack/grpc-call.ts";
import { readMetrics } from "../telemetry/read-metrics.ts";

const unknownRun = "0190b7c2-7b7f-7000-8000-000000000000";

/** Streams by feed, and the same streams by their handlers. */
const ways = [
  ["by feed", false],
  ["by handler", true],
] as const;

test("a unary call counts once by the code that its caller gets, over gRPC and over REST", async () => {
  const service = await startService({ metricsPort: 0 });
  const client = new GrpcClient(service.target);
  const { listSessions, getSession } = SessionService.method;
  await client.call(listSessions, {});
  await fetch(`${service.url}/v1/sessions`, { headers: credentialsOf() });
  await expect(client.call(getSession, { sessionId: "none" })).rejects.toMatchObject({ code: status.NOT_FOUND });
  await fetch(`${service.url}/v1/sessions/none`, { headers: credentialsOf() });
  await expect(client.call(RunService.method.getRun, { runId: "no uuid" })).rejects.toMatchObject({
    code: status.INVALID_ARGUMENT,
  });
  await expectCalls(service, "SessionService", "ListSessions", { OK: 2 });
  await expectCalls(service, "SessionService", "GetSession", { NOT_FOUND: 2 });
  await expectCalls(service, "RunService", "GetRun", { INVALID_ARGUMENT: 1 });
});

test("a call that authentication or admission refuses counts once by its code", async () => {
  const service = await startService({ metricsPort: 0, authAdminToken: "admin-token-of-tests" });
  const nobody = new GrpcClient(service.target, {});
  await expect(nobody.call(SessionService.method.listSessions, {})).rejects.toMatchObject({
    code: status.UNAUTHENTICATED,
  });
  expect((await fetch(`${service.url}/v1/sessions`)).status).toBe(401);
  await expectCalls(service, "SessionService", "ListSessions", { UNAUTHENTICATED: 2 });
  const client = new GrpcClient(service.target);
  const listing = client.call(AuthService.method.listApiKeys, { clientId: "local" });
  await expect(listing).rejects.toMatchObject({ code: status.PERMISSION_DENIED });
  expect((await fetch(`${service.url}/v1/auth/keys`, { headers: credentialsOf() })).status).toBe(403);
  await expectCalls(service, "AuthService", "ListApiKeys", { PERMISSION_DENIED: 2 });
  // Streams are authenticated at another place.
  await expect(Array.fromAsync(nobody.stream(RunService.method.tailRun, { runId: unknownRun }))).rejects.toMatchObject({
    code: status.UNAUTHENTICATED,
  });
  await expectCalls(service, "RunService", "TailRun", { UNAUTHENTICATED: 1 });
});

test.each(ways)("a stream %s counts at its end, by the code of its end", async (_way, plainStreams) => {
  const service = await startService({ metricsPort: 0 }, { plainStreams });
  const client = new GrpcClient(service.target);
  const { sessionId, runId } = await startRun(client, "words=2");
  await Array.fromAsync(client.stream(RunService.method.tailRun, { runId }));
  await expect(Array.fromAsync(client.stream(RunService.method.tailRun, { runId: unknownRun }))).rejects.toMatchObject({
    code: status.NOT_FOUND,
  });
  await Array.fromAsync(readSse(`${service.url}/v1/sessions/${sessionId}/stream`));
  await expect(Array.fromAsync(readSse(`${service.url}/v1/sessions/none/stream`))).rejects.toThrow("404");
  await expectCalls(service, "RunService", "TailRun", { OK: 1, NOT_FOUND: 1 });
  await expectCalls(service, "SessionService", "StreamSession", { OK: 1, NOT_FOUND: 1 });
  const { text } = await readMetrics(service);
  expect(text).not.toMatch(/^runnel_reader_dropped_total\{/m);
});

test.each(ways)(
  "an open stream %s is one reader by its transport until its reader leaves",
  async (_way, plainStreams) => {
    const service = await startService({ metricsPort: 0 }, { plainStreams });
    const client = new GrpcClient(service.target);
    const { sessionId, runId } = await startRun(client, "words=2000 pace=20");
    const stream = client.stream(RunService.method.tailRun, { runId });
    const ended = Array.fromAsync(stream);
    const events = readSse(`${service.url}/v1/sessions/${sessionId}/stream`);
    await events.next();
    await expectValues(service, {
      'runnel_readers{transport="grpc"}': 1,
      'runnel_readers{transport="sse"}': 1,
      'runnel_rpc_server_in_flight{service="runnel.v1.RunService",method="TailRun"}': 1,
    });
    stream.cancel();
    await expect(ended).rejects.toMatchObject({ code: status.CANCELLED });
    await events.return(undefined);
    await expectValues(service, { 'runnel_readers{transport="grpc"}': 0, 'runnel_readers{transport="sse"}': 0 });
    await expectCalls(service, "RunService", "TailRun", { CANCELLED: 1 });
    await expectCalls(service, "SessionService", "StreamSession", { CANCELLED: 1 });
    // A reader that leaves by itself was not dropped.
    expect((await readMetrics(service)).text).not.toMatch(/^runnel_reader_dropped_total\{/m);
  },
);

test.each(ways)("a stalled reader %s that leaves is counted like any other", async (_way, plainStreams) => {
  const provider = await openProvider();
  const flags = { metricsPort: 0, openaiKey: "test-key", openaiBaseUrl: provider.baseUrl, defaultModel: "gpt-4o-mini" };
  const service = await startService(flags, { plainStreams });
  const client = new GrpcClient(service.target);
  // More than a window of HTTP/2 holds.
  provider.respond(answer("x".repeat(1_000_000)));
  const { runId } = await startRun(client, "hello");
  await Array.fromAsync(client.stream(RunService.method.tailRun, { runId }));
  // Without a client library: those read ahead of their users.
  const session = http2.connect(service.url);
  onTestFinished(() => session.destroy());
  const stream = session.request(grpcHead(RunService.method.tailRun)).on("error", () => {});
  stream.end(envelope(RunService.method.tailRun, { runId }));
  await expectValues(service, { 'runnel_readers{transport="grpc"}': 1 });
  stream.close(http2.constants.NGHTTP2_CANCEL);
  await expectCalls(service, "RunService", "TailRun", { OK: 1, CANCELLED: 1 });
  await expectValues(service, { 'runnel_readers{transport="grpc"}': 0 });
});

test("a stream that is never read counts as ended when its caller leaves", async () => {
  const finished: string[] = [];
  const clock = createManualClock();
  const events = { ...silentEvents, callFinished: ({ code }: { code: string }) => void finished.push(code) };
  const leaving = new AbortController();
  const stream = async function* () {};
  const request = { method: RunService.method.tailRun, header: new Headers(), signal: leaving.signal };
  const contextValues = createContextValues();
  const response = { stream: true, message: stream() };
  const next = (async () => response) as unknown as Parameters<Interceptor>[0];
  await createMeasureInterceptor({ clock, events })(next)({ ...request, contextValues } as unknown as StreamRequest);
  expect(finished).toEqual([]);
  leaving.abort(new ConnectError("left", Code.Canceled));
  expect(finished).toEqual(["CANCELLED"]);
});

test("a stream that the service ends early counts as dropped, with the reason; a refused stream does not", () => {
  const dropped: string[] = [];
  const deps = { clock: createManualClock(), events: { ...silentEvents, readerDropped: dropReason } };
  function dropReason({ reason }: { reason: string }): void {
    dropped.push(reason);
  }
  const { tailRun } = RunService.method;
  const resume = createErrorMapper(silentEvents, [])(new Fault("RESUME", "come again"), tailRun);
  const open = new MeasuredCall(deps, tailRun, "grpc");
  open.read();
  open.end(resume);
  // The call is over: later ends do not count.
  open.end(resume);
  open.leave();
  expect(dropped).toEqual(["RESUME"]);
  new MeasuredCall(deps, tailRun, "grpc").end(resume);
  const left = new MeasuredCall(deps, tailRun, "grpc");
  left.read();
  left.leave();
  const done = new MeasuredCall(deps, tailRun, "grpc");
  done.read();
  done.end();
  expect(dropped).toEqual(["RESUME"]);
});

async function startRun(client: GrpcClient, message: string): Promise<{ sessionId: string; runId: string }> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "tester" } });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  return { sessionId, runId };
}

/** Checks all finished calls of the method, by code; each is timed, and none is left open. */
async function expectCalls(
  service: TestService,
  name: string,
  method: string,
  codes: Readonly<Record<string, number>>,
): Promise<void> {
  const labels = `service="runnel.v1.${name}",method="${method}"`;
  const counted = async (): Promise<Record<string, number>> => {
    const { text } = await readMetrics(service);
    const series = new RegExp(`^runnel_rpc_server_requests_total\\{${labels},code="([A-Z_]+)"\\} (\\d+)$`, "gm");
    return Object.fromEntries(Array.from(text.matchAll(series), ([, code = "", count]) => [code, Number(count)]));
  };
  const sum = Object.values(codes).reduce((total, count) => total + count, 0);
  await until(`${method} to be counted`, async () => {
    return Object.values(await counted()).reduce((total, count) => total + count, 0) >= sum;
  });
  expect(await counted()).toEqual(codes);
  const open = (await readMetrics(service)).value(`runnel_rpc_server_in_flight{${labels}}`);
  expect(open ?? 0).toBe(0);
}

async function expectValues(service: TestService, values: Readonly<Record<string, number>>): Promise<void> {
  await until(JSON.stringify(values), async () => {
    const figures = await readMetrics(service);
    return Object.entries(values).every(([series, value]) => figures.value(series) === value);
  });
}
