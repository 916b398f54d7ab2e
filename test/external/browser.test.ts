// Readers in a browser, on a page of another origin, beside readers of all other kinds: tickets admit them, they reconnect by
// themselves, and they get the same results as all others.

import { fromBinary } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { openBreakingLine } from "../conformance/breaking-line.ts";
import { connectEventSource, resultTypes, sessionTypes } from "../conformance/event-source-surface.ts";
import { plainJson, plainResult } from "../conformance/plain.ts";
import { resultOf } from "../conformance/rest-surface.ts";
import { modelFlags, readSession, startConversation } from "../conformance/stage.ts";
import type { Result, Surface } from "../conformance/surface.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { openProvider } from "../fixtures.ts";
import { credentialsOf, keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { openPage, readPage } from "./browser.ts";
import { asClient, startCurl } from "./curl.ts";
import type { PageReading, RpcReader } from "./page-reader.ts";
import { startPageServer } from "./page-server.ts";
import { startTlsService } from "./tls-service.ts";

interface Ids {
  readonly sessionId: string;
  readonly runId: string;
}

/** A run that writes one word for each call of `goOn`, and ends after the last one. */
async function startSteppedRun(words: readonly string[]) {
  const provider = await openProvider();
  const steps = words.map((word) => ({ word, ...Promise.withResolvers<void>() }));
  let stepsGone = 0;
  provider.respond(async (wire) => {
    for (const { word, promise } of steps) {
      wire.text(word);
      await promise;
    }
    wire.done("stop");
  });
  return {
    flags: modelFlags(provider),
    start: (api: Surface) => startConversation(api),
    goOn: () => {
      steps[stepsGone]?.resolve();
      stepsGone += 1;
    },
  };
}

/** Tickets for the session and for its run. */
async function makeTickets(
  { target }: TestService,
  { sessionId, runId }: Ids,
): Promise<{ session: string; run: string }> {
  const client = new GrpcClient(target);
  const ticketTo = async (one: { case: "sessionId" | "runId"; value: string }): Promise<string> =>
    (await client.call(AuthService.method.createStreamTicket, { target: { target: one } })).ticket;
  return {
    session: await ticketTo({ case: "sessionId", value: sessionId }),
    run: await ticketTo({ case: "runId", value: runId }),
  };
}

async function startEventSource(page: Page, name: string, url: string): Promise<void> {
  const isSession = new URL(url).pathname.endsWith("/stream");
  const [types, last] = isSession ? [sessionTypes, "done"] : [resultTypes, "end"];
  const args = { name, url, types, last };
  await page.evaluate(
    (each) => globalThis.pageReader.startEventSource(each.name, each.url, each.types, each.last),
    args,
  );
}

async function startRpc(page: Page, name: string, reader: RpcReader): Promise<void> {
  const args = { name, reader };
  await page.evaluate((each) => globalThis.pageReader.startRpc(each.name, each.reader), args);
}

async function readToEnd(page: Page, name: string): Promise<PageReading> {
  const reading = await until(`the end of ${name}`, async () => {
    const each = await readPage(page, name);
    return each.isOver && each;
  });
  expect(reading.failure, name).toBe("");
  return reading;
}

/** The results that an EventSource of a page got. */
function resultsIn({ events }: PageReading): Result[] {
  return events.filter(({ type }) => type !== "end").map(({ type, data }) => resultOf(plainJson(data), type));
}

/** The results that an RPC of a page got. */
function messagesIn({ results }: PageReading): Result[] {
  return results.map((bytes) => plainResult(fromBinary(RunResultSchema, base64Decode(bytes))));
}

test("a page and clients of every kind read the same run, and a page that is cut off misses nothing", async () => {
  const origin = await startPageServer();
  const { flags, start, goOn } = await startSteppedRun(["We", " are", " all", " here."]);
  const service = await startService({ ...flags, serverCorsOrigins: [origin] });
  const api = findSurface("gRPC").connect(service);
  const ids = await start(api);
  const { sessionId, runId } = ids;
  const { session: sessionTicket, run: runTicket } = await makeTickets(service, ids);
  const line = await openBreakingLine(service.url);
  const page = await openPage(origin);
  const streamPath = `/v1/sessions/${sessionId}/stream`;
  const tailPath = `/v1/runs/${runId}/results:tail`;
  await startEventSource(page, "session", `${line.url}${streamPath}?ticket=${sessionTicket}`);
  await startEventSource(page, "run", `${line.url}${tailPath}?ticket=${runTicket}`);
  const baseUrl = service.url;
  const rpcs: Record<string, RpcReader> = {
    "Connect by ticket": { protocol: "connect", useBinaryFormat: false, baseUrl, token: runTicket, runId },
    "gRPC-Web by ticket": { protocol: "grpc-web", useBinaryFormat: true, baseUrl, token: runTicket, runId },
    "Connect by key": { protocol: "connect", useBinaryFormat: true, baseUrl, token: keyOf(), runId },
  };
  for (const [name, reader] of Object.entries(rpcs)) {
    await startRpc(page, name, reader);
  }
  const others = [api, connectEventSource(baseUrl, credentialsOf())].map((each) =>
    Array.fromAsync(each.followRun(runId)),
  );
  for (const other of others) {
    // A test that fails before they end has failed already.
    other.catch(() => {});
  }
  const byCurl = startCurl([...asClient(), `${baseUrl}${tailPath}`]);
  await until("all readers", () => service.app.countReaders() === 8);
  goOn();
  for (const cuts of [1, 2]) {
    await until("news in the page", async () => (await readPage(page, "session")).events.length > cuts);
    line.cut();
    for (const name of ["session", "run"]) {
      await until(`${name} to be back`, async () => (await readPage(page, name)).opened > cuts);
    }
    goOn();
  }
  goOn();

  const [results = [], byEventSource] = await Promise.all(others);
  expect(results.at(-1)).toMatchObject({ type: "run.completed", payload: { turns: 1 } });
  expect(byEventSource).toEqual(results);
  const printed = (await byCurl.finished).stdout.toString();
  expect(printed.match(/^id: \d+$/gm)).toEqual(results.map(({ sequence }) => `id: ${sequence}`));
  expect(resultsIn(await readToEnd(page, "run"))).toEqual(results);
  for (const name of Object.keys(rpcs)) {
    expect(messagesIn(await readToEnd(page, name)), name).toEqual(results);
  }
  const events = await readSession(api, sessionId);
  const seen = (await readToEnd(page, "session")).events;
  expect(seen.map(({ type, data }) => [type, plainJson(data)])).toEqual(
    events.map(({ type, payload }) => [type, payload]),
  );
  await until("nobody to be left", () => service.app.countReaders() === 0);
});

describe("a page is refused", () => {
  async function openStage(corsOrigin: (origin: string) => string) {
    const origin = await startPageServer();
    const service = await startService({ serverCorsOrigins: [corsOrigin(origin)] });
    const ids = await startConversation(findSurface("gRPC").connect(service));
    return { service, ids, page: await openPage(origin), ...(await makeTickets(service, ids)) };
  }

  async function failureOf(page: Page, name: string): Promise<string> {
    return await until(`the end of ${name}`, async () => (await readPage(page, name)).failure || undefined);
  }

  test("when its origin is not listed, with any credentials", async () => {
    const { service, ids, page, run } = await openStage(() => "https://app.example");
    const baseUrl = service.url;
    await startEventSource(page, "sse", `${baseUrl}/v1/runs/${ids.runId}/results:tail?ticket=${run}`);
    expect(await failureOf(page, "sse")).toBe("refused");
    for (const protocol of ["connect", "grpc-web"] as const) {
      await startRpc(page, protocol, { protocol, useBinaryFormat: true, baseUrl, token: keyOf(), runId: ids.runId });
      expect(await failureOf(page, protocol)).toMatch(/Failed to fetch/);
    }
  });

  test("on a stream that its ticket does not cover", async () => {
    const { service, ids, page, session } = await openStage((origin) => origin);
    const baseUrl = service.url;
    await startEventSource(page, "sse", `${baseUrl}/v1/runs/${ids.runId}/results:tail?ticket=${session}`);
    expect(await failureOf(page, "sse")).toBe("refused");
    for (const protocol of ["connect", "grpc-web"] as const) {
      const reader = { protocol, useBinaryFormat: true, baseUrl, token: session, runId: ids.runId };
      await startRpc(page, protocol, reader);
      expect(await failureOf(page, protocol)).toMatch(/invalid ticket: it is for another stream/);
    }
  });
});

/** Over HTTP/1.1 a browser has six connections to an origin; over HTTP/2 all streams share one. */
const streamsCount = 12;

test("over TLS a page has more streams than a browser has connections", async () => {
  const origin = await startPageServer();
  const { flags, start, goOn } = await startSteppedRun(["many", " readers"]);
  const service = await startTlsService({ ...flags, serverCorsOrigins: [origin] });
  // The same service without TLS, for clients that do not trust its certificate.
  const clear = await startService({ ...flags, databaseUrl: service.databaseUrl });
  const api = findSurface("gRPC").connect(clear);
  const ids = await start(api);
  const { run: ticket } = await makeTickets(clear, ids);
  const page = await openPage(origin);
  const names = Array.from({ length: streamsCount }, (_, index) => `reader ${index}`);
  for (const name of names) {
    await startEventSource(page, name, `${service.url}/v1/runs/${ids.runId}/results:tail?ticket=${ticket}`);
  }
  await until("all streams to be open", async () => {
    const readings = await Promise.all(names.map((name) => readPage(page, name)));
    return readings.every(({ opened, events }) => opened === 1 && events.length > 0);
  });
  goOn();
  goOn();
  const results = await Array.fromAsync(api.followRun(ids.runId));
  for (const name of names) {
    expect(resultsIn(await readToEnd(page, name)), name).toEqual(results);
  }
});
