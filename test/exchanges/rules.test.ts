// The contract of exchanges besides their texts: ownership, limits, and repeated calls, over REST and over gRPC.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect, inject } from "vitest";
import { ExchangeService, SubmitInboxRequestSchema } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { callRaw, frame } from "../conformance/grpc-frames.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { startService, type TestService } from "../harness/service.ts";
import { done, ended, expectRefused, invalid, message, notFound, type Refusal, stale } from "./bad-stage.ts";
import { createFile, named, session } from "./requests.ts";
import { type Exchanges, findTransport } from "./transports.ts";
import { openWorkspace } from "./workspace.ts";

interface Caller {
  readonly client: string;
  readonly api: Exchanges;
  /** The API as another client. */
  readonly foreign: Exchanges;
}

/** They share a service, so each has its own client ids. */
function openCallers(service: TestService): Caller[] {
  return [
    { way: findTransport("REST, plain text"), client: "local", other: "stranger" },
    { way: findTransport("gRPC"), client: "tenant-a", other: "tenant-b" },
  ].map(({ way, client, other }) => ({ client, api: way.open(service, client), foreign: way.open(service, other) }));
}

async function forEachCaller(service: TestService, check: (caller: Caller) => Promise<void>): Promise<void> {
  for (const caller of openCallers(service)) {
    await check(caller);
  }
}

test("every exchange RPC requires credentials", async ({ service }) => {
  for (const { name } of ExchangeService.methods) {
    const path = `/runnel.exchange.v1.ExchangeService/${name}`;
    const end = await callRaw(service.url, path, frame(Buffer.alloc(0)), { authorization: "Bearer of-nobody" });
    expect.soft(end.grpcStatus, name).toBe(status.UNAUTHENTICATED);
  }
});

test("another client's exchanges and page tokens are unknown", async ({ service }) => {
  await forEachCaller(service, async ({ client, api, foreign }) => {
    const workspace = await openWorkspace({ "here.txt": "here\n" });
    const { exchange_id: id } = await api.start({ task: "mine", workDir: workspace.path });
    await api.readOutbox(id);
    await api.start({ task: "mine too" });
    for (const [what, call] of Object.entries(named)) {
      await expectRefused(call(foreign, id), notFound, what);
    }
    expect(await foreign.list({})).toEqual({ exchanges: [] });
    const { exchanges, next_page_token: next } = await api.list({ pageSize: 1 });
    expect(exchanges).toMatchObject([{ task: "mine too" }]);
    const pageToken = String(next);
    expect(await api.list({ pageSize: 1, pageToken })).toMatchObject({ exchanges: [{ task: "mine" }] });
    const refusal = { ...invalid("page_token"), reason: "CURSOR_INVALID" };
    await expectRefused(foreign.list({ pageToken }), refusal, "a page token of another client");
    const sessions = await findSurface("gRPC").connect(service, client).listSessions({ pageSize: 1 });
    await expectRefused(api.list({ pageToken: String(sessions.next_page_token) }), refusal, "one of another list");
    // Ids are unique per client.
    expect(await foreign.import({ session: { ...session, sessionId: id } })).toMatchObject({ exchange_id: id });
    expect(await api.get(id)).toMatchObject({ task: "mine", sequence: 1 });
    expect(workspace.read()).toEqual({ "here.txt": "here\n" });
  });
});

test("an import with the id of an exchange or of a session is refused", async ({ service }) => {
  await forEachCaller(service, async ({ client, api }) => {
    const exists: Refusal = {
      grpcCode: "ALREADY_EXISTS",
      httpStatus: 409,
      reason: "EXCHANGE_EXISTS",
      text: /0123abcd/,
    };
    expect(await api.import({ session })).toMatchObject({ exchange_id: "0123abcd", sequence: 2 });
    expect(await api.readOutbox("0123abcd")).toContain("--- here.txt --- (file not found or access denied)\n");
    await expectRefused(api.import({ session }), exists, "the same again");
    await findSurface("gRPC")
      .connect(service, client)
      .createSession({ sessionId: "89abcdef", agent: { name: "a" } });
    await expectRefused(
      api.import({ session: { ...session, sessionId: "89abcdef" } }),
      { ...exists, text: /89abcdef/ },
      "the id of a session",
    );
    // An exchange that was complete elsewhere has ended here, without an outbox.
    await api.import({ session: { ...session, sessionId: "00000001", isComplete: true } });
    await expectRefused(api.readOutbox("00000001"), ended("completed"), "an outbox that never was");
    await expectRefused(
      api.submit({ exchangeId: "00000001", text: createFile }),
      ended("completed"),
      "an answer to no question",
    );
    expect(await api.get("00000001")).toMatchObject({ state: "completed", is_complete: true, sequence: 2 });
  });
});

test("an exported session can be imported again, with any requests and results", async ({ service }) => {
  const [own, other] = [
    findTransport("REST, JSON").open(service),
    findTransport("REST, JSON").open(service, "stranger"),
  ];
  const { exchange_id: exchangeId } = await own.start({ task: "one\n\u2028two é\ufffd" });
  const text = `${createFile}[READ_FILE path="made.txt"]\n[READ_FILE path="${"./".repeat(2_044)}made.txt"]\n${message}[READ_FILE]`;
  await own.submit({ exchangeId, text });
  await own.readOutbox(exchangeId);
  const exported = await own.export(exchangeId);
  expect(exported).toMatchObject({ sequenceNumber: 2, readFileRequests: ["made.txt", expect.stringMatching(/^\.\//)] });
  const response = await fetch(`${service.url}/v1/exchanges:import`, {
    method: "POST",
    headers: { ...credentialsOf("stranger"), "content-type": "application/json" },
    body: JSON.stringify({ session: exported }),
  });
  expect([response.status, await response.json()]).toMatchObject([201, { exchange_id: exchangeId, sequence: 2 }]);
  const again = await other.export(exchangeId);
  expect({ ...again, createdAt: "", updatedAt: "" }).toEqual({ ...exported, createdAt: "", updatedAt: "" });
});

test("a repeated start returns the same exchange, and starts beyond the maximum are refused until one ends", async () => {
  const service = await startService({ exchangesMaxOpen: 2 });
  await forEachCaller(service, async ({ api, foreign }) => {
    const reused: Refusal = {
      grpcCode: "ALREADY_EXISTS",
      httpStatus: 409,
      reason: "REQUEST_ID_REUSED",
      field: "request_id",
    };
    const full: Refusal = {
      grpcCode: "RESOURCE_EXHAUSTED",
      httpStatus: 429,
      reason: "CONCURRENCY_EXHAUSTED",
      text: /^max open exchanges of a client \(2\) reached: finish one, or cancel its run$/,
    };
    const [{ exchange_id: exchangeId }] = await Promise.all([
      api.start({ task: "a", requestId: "once" }),
      api.start({ task: "b" }),
    ]);
    expect(await api.start({ task: "a", requestId: "once" })).toMatchObject({ exchange_id: exchangeId });
    await expectRefused(api.start({ task: "c", requestId: "once" }), reused, "another task with the same request id");
    await expectRefused(api.start({ task: "c" }), full, "a third one");
    await expectRefused(api.import({ session }), full, "one from elsewhere");
    await foreign.start({ task: "of somebody else" });
    await api.submit({ exchangeId, text: done });
    await api.start({ task: "c" });
  });
});

test("a call that times out gets DEADLINE_EXCEEDED, and the same call again gets the results", async () => {
  const service = await startService({ toolsJail: inject("hasJail") ? "required" : "off" });
  const workspace = await openWorkspace();
  const api = findTransport("gRPC").open(service);
  const { exchange_id: exchangeId } = await api.start({ task: "a", workDir: workspace.path });
  await api.readOutbox(exchangeId);
  const text = "[RUN_COMMAND]\nuntil [ -e go ]; do sleep 0.02; done; echo gone\n[/RUN_COMMAND]\n";
  const body = frame(toBinary(SubmitInboxRequestSchema, create(SubmitInboxRequestSchema, { exchangeId, text })));
  const end = await callRaw(service.url, "/runnel.exchange.v1.ExchangeService/SubmitInbox", body, {
    "grpc-timeout": "300m",
  });
  expect(end.grpcStatus).toBe(status.DEADLINE_EXCEEDED);
  expect(await api.get(exchangeId)).toMatchObject({ state: "working", sequence: 1 });
  await expectRefused(
    api.submit({ exchangeId, text: createFile }),
    stale(/^outbox 1 was already answered/),
    "another text",
  );
  writeFileSync(join(workspace.path, "go"), "");
  expect(await api.submit({ exchangeId, text })).toMatchObject({
    results: [{ type: "RUN_COMMAND", success: true, output: "gone\n" }],
    sequence: 2,
  });
});
