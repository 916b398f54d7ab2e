// One run, followed at the same time by every kind of client, each with its own way of authentication.

import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { TailRunRequestSchema } from "#gen/runnel/v1/run_service_pb.js";
import { StreamSessionRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { test } from "../fixtures.ts";
import { defaultClientId, keyOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { signV1, signV2 } from "../harness/signing.ts";
import { until } from "../harness/wait.ts";
import { connectEventSource } from "./event-source-surface.ts";
import { connectGrpc } from "./grpc-surface.ts";
import { connectRest } from "./rest-surface.ts";
import { modelFlags, readSession, startConversation } from "./stage.ts";
import type { Result, SessionEvent } from "./surface.ts";
import { findSurface, surfaces } from "./surfaces.ts";

type Follow<T> = () => AsyncGenerator<T>;

interface Followers {
  readonly session: Record<string, Follow<SessionEvent>>;
  readonly run: Record<string, Follow<Result>>;
}

interface Ids {
  readonly sessionId: string;
  readonly runId: string;
}

/** Follows with a bearer token, over each surface. */
function followByKey(service: TestService, { sessionId, runId }: Ids): Followers {
  const apis = surfaces.map(({ name, connect }) => [name, connect(service)] as const);
  return {
    session: Object.fromEntries(apis.map(([name, api]) => [name, () => api.followSession(sessionId)])),
    run: Object.fromEntries(apis.map(([name, api]) => [name, () => api.followRun(runId)])),
  };
}

/** Follows with a ticket in the URL and no header; each ticket is valid for one stream. */
async function followByTicket({ url, target }: TestService, { sessionId, runId }: Ids): Promise<Followers> {
  const client = new GrpcClient(target);
  const ticketTo = async (one: { case: "sessionId" | "runId"; value: string }): Promise<string> =>
    (await client.call(AuthService.method.createStreamTicket, { target: { target: one } })).ticket;
  const toSession = await ticketTo({ case: "sessionId", value: sessionId });
  const toRun = await ticketTo({ case: "runId", value: runId });
  return {
    session: { ticket: () => connectEventSource(url, {}, toSession).followSession(sessionId) },
    run: { ticket: () => connectEventSource(url, {}, toRun).followRun(runId) },
  };
}

/** Follows with signatures; each is valid for one request. */
function followBySignature({ url, target }: TestService, { sessionId, runId }: Ids): Followers {
  const caller = { secret: keyOf(), clientId: defaultClientId };
  const streamPath = `/v1/sessions/${sessionId}/stream`;
  const tailPath = `/v1/runs/${runId}/results:tail`;
  const rpc = <S extends DescMessage>(method: string, schema: S, request: MessageInitShape<S>) =>
    connectGrpc(
      target,
      signV2({
        ...caller,
        method: "POST",
        path: `/runnel.v1.${method}`,
        body: toBinary(schema, create(schema, request)),
      }),
    );
  return {
    session: {
      "signature v1": () => connectRest(url, signV1({ ...caller, path: streamPath })).followSession(sessionId),
      "signature v2": () => connectRest(url, signV2({ ...caller, path: streamPath })).followSession(sessionId),
      "signature v2 over gRPC": () =>
        rpc("SessionService/StreamSession", StreamSessionRequestSchema, { sessionId }).followSession(sessionId),
    },
    run: {
      "signature v1": () => connectRest(url, signV1({ ...caller, path: tailPath })).followRun(runId),
      "signature v2": () => connectRest(url, signV2({ ...caller, path: tailPath })).followRun(runId),
      "signature v2 over gRPC": () => rpc("RunService/TailRun", TailRunRequestSchema, { runId }).followRun(runId),
    },
  };
}

test("every client that may follow a run gets the same results as they happen", async ({ provider }) => {
  const all = Promise.withResolvers<void>();
  provider.respond(async (wire) => {
    wire.reasoning("Who is there?");
    wire.text("Welcome");
    await all.promise;
    for (const name of ["Ada", "Grace", "Edsger"]) {
      wire.text(`, ${name}`);
    }
    wire.toolCalls({ index: 0, id: "call_1", name: "list_dir", arguments: "{}" });
    wire.done("tool_calls");
  });
  const service = await startService(modelFlags(provider));
  const api = findSurface("REST").connect(service);
  const ids = await startConversation(api, { tools: { builtin: ["list_dir"] } });
  const followers = [followByKey(service, ids), await followByTicket(service, ids), followBySignature(service, ids)];
  const sessions = followers.flatMap(({ session }) => Object.entries(session)).map(startReading);
  const runs = followers.flatMap(({ run }) => Object.entries(run)).map(startReading);
  const readersCount = sessions.length + runs.length;
  await until("all readers to be there", () => service.app.countReaders() === readersCount);
  all.resolve();

  await Promise.all([...sessions, ...runs].map(({ told }) => told));
  const { results } = await api.listResults({ runId: ids.runId, pageSize: 250 });
  expect(results.length).toBeGreaterThan(5);
  for (const { who, told } of runs) {
    expect(await told, who).toEqual(results);
  }
  const events = await readSession(api, ids.sessionId);
  expect(events.map(({ type }) => type)).toContain("tool_result");
  for (const { who, told } of sessions) {
    expect(await told, who).toEqual(events);
  }
  await until("nobody to be left", () => service.app.countReaders() === 0);
});

function startReading<T>([who, follow]: [string, Follow<T>]): { who: string; told: Promise<T[]> } {
  return { who, told: Array.fromAsync(follow()) };
}
