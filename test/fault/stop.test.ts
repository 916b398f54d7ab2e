// A stopping service ends in bounded time, with open streams and unresponsive peers. Where the drain is an hour, waiting for
// any of them would outlast the test.

import { once } from "node:events";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { reasonOf } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { type Member, openCluster, openProvider, ownerOf, startRun } from "./cluster.ts";
import { openOwnPostgres } from "./database/own-postgres.ts";
import { startOn } from "./database/service-on.ts";
import { LogReader, SseLogReader } from "./log-reader.ts";

const hour = { RUNNEL_SERVER_DRAIN_SECONDS: "3600" };

// No message was sent, so these streams are silent, perhaps without end.
test("streams of sessions without a run do not delay a stop, and end with RESUME", async () => {
  const cluster = await openCluster(hour);
  const member = await cluster.start();
  const { sessionId } = await member.client.call(SessionService.method.createSession, { agent: { name: "idle" } });
  const endings = await Promise.all(Array.from({ length: 3 }, () => openIdleGrpc(member, sessionId)));
  const texts = await Promise.all(Array.from({ length: 3 }, () => openIdleSse(member, sessionId)));
  expect(await member.stop()).toBe(0);
  for (const ending of endings) {
    const error = await ending.end;
    expect([error.code, reasonOf(error)]).toEqual([status.UNAVAILABLE, "RESUME"]);
  }
  for (const { end } of texts) {
    // The body ends normally, not by a lost connection, and without an event.
    expect(await end).not.toContain("event:");
  }
});

test("readers and the model of a silent run do not delay a stop, and the run is handed on", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("well"));
  const cluster = await openCluster({ ...environment, ...hour });
  const member = await cluster.start();
  const { runId } = await startRun(member.client, "go");
  const [overGrpc, overSse] = [new LogReader(runId), new SseLogReader(runId)];
  const endings = Promise.all([overGrpc.follow(member.client), overSse.follow(member.url)]);
  await until("both to have its words", () => overGrpc.results.length >= 2 && overSse.events.length >= 2);
  expect(await member.stop()).toBe(0);
  expect(await endings).toEqual([status.UNAVAILABLE, "broken"]);
  expect(overGrpc.breaks).toEqual(["RESUME"]);
  expect(await ownerOf(cluster.databaseUrl, runId)).toBeNull();
});

// The run cannot be handed on, the lease cannot be given back, and each of them waits for its own statement.
test("a database that does not answer delays a stop only up to its limit", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("well"));
  const postgres = await openOwnPostgres();
  const { member } = await startOn(postgres.url, environment);
  const { runId } = await startRun(member.client, "go");
  const reader = new LogReader(runId);
  const ending = reader.follow(member.client);
  await until("its words", () => reader.results.length >= 2);
  postgres.freeze();
  expect(await member.stop()).toBe(1);
  expect(member.log()).toContain("runnel: the end of this replica could not be written to the database");
  expect(await ending).toBe(status.UNAVAILABLE);
});

/** Resolves once the stream is open; `end` resolves with the error that ends it. */
async function openIdleGrpc({ client }: Member, sessionId: string): Promise<{ readonly end: Promise<ServiceError> }> {
  const stream = client.stream(SessionService.method.streamSession, { sessionId });
  const end = new Promise<ServiceError>((resolve) => stream.on("error", resolve));
  stream.resume();
  await once(stream, "metadata");
  return { end };
}

async function openIdleSse({ url }: Member, sessionId: string): Promise<{ readonly end: Promise<string> }> {
  const response = await fetch(`${url}/v1/sessions/${sessionId}/stream`, { headers: credentialsOf() });
  expect(response.status).toBe(200);
  return { end: response.text() };
}
