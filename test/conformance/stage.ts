// The stage that the cases share: a service in front of a provider that a test scripts, and whole streams as lists.

import { expect } from "vitest";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Config } from "../../src/platform/config/keys.ts";
import type { FakeProvider } from "../fakes/provider.ts";
import { test as base, openProvider } from "../fixtures.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";
import { Refused, type SessionEvent, type Surface } from "./surface.ts";
import { findSurface, type SurfaceKind } from "./surfaces.ts";

export interface Stage {
  readonly provider: FakeProvider;
  readonly service: TestService;
  readonly api: Surface;
}

/** Starts a service for one test; its default model is the provider's. */
export async function setStage(
  kind: SurfaceKind,
  flags: Partial<Config> = {},
  { own = false }: { readonly own?: boolean } = {},
): Promise<Stage> {
  const provider = await openProvider();
  const { plainStreams = false } = kind;
  const service = await startService({ ...modelFlags(provider), ...flags }, { plainStreams, own });
  return { provider, service, api: kind.connect(service) };
}

/** The stage of a test, by its parts. `kind` is its surface: a file extends it, a `describe` overrides it. */
export const test = base
  .extend("kind", findSurface("gRPC"))
  .extend("stage", ({ kind }) => setStage(kind))
  .extend("provider", ({ stage }) => stage.provider)
  .extend("service", ({ stage }) => stage.service)
  .extend("api", ({ stage }) => stage.api);

/** Makes the provider's model the default for agents that name none. */
export function modelFlags({ baseUrl }: FakeProvider): Partial<Config> {
  // The circuit breaker would remember the failures of the test before; tests of the breaker set its limit themselves.
  return { openaiKey: "test-key", openaiBaseUrl: baseUrl, defaultModel: "gpt-4o-mini", circuitMaxFailures: 1_000 };
}

/** Starts a service that asks a provider of the test, and a client of it. */
export async function startWithProvider(flags: Partial<Config> = {}, options: Parameters<typeof startService>[1] = {}) {
  const provider = await openProvider();
  const service = await startService({ ...modelFlags(provider), ...flags }, options);
  return { provider, service, client: new GrpcClient(service.target) };
}

/** Resolves with the run when it has ended. */
export async function endOfRun(client: GrpcClient, runId: string) {
  return await until("the run to end", async () => {
    const { run } = await client.call(RunService.method.getRun, { runId });
    return run?.endTime !== undefined && run;
  });
}

/** Creates a session and sends its first message. */
export async function startConversation(
  api: Surface,
  agent: {
    readonly maxTurns?: number;
    readonly tools?: object;
    readonly budget?: object;
    readonly maxProviderCalls?: number;
  } = {},
): Promise<{ sessionId: string; runId: string }> {
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", ...agent } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "hello" });
  return { sessionId, runId };
}

/** Returns every event of the session's latest run, from its start. */
export async function readSession(api: Surface, sessionId: string, after?: string): Promise<SessionEvent[]> {
  return await Array.fromAsync(api.followSession(sessionId, after));
}

/** Returns the parts that are equal in each run: types and payloads without positions and times. */
export function told(events: readonly SessionEvent[]): unknown[] {
  return events.map(({ type, payload: { duration_ms: _, ...payload } }) => [type, payload]);
}

/** One refusal as all surfaces send it, each in its own format. */
export interface Refusal {
  readonly grpcCode: string;
  readonly httpStatus: number;
  readonly reason: string;
  readonly text: string | RegExp;
}

export async function expectRefused(call: Promise<unknown>, refusal: Refusal): Promise<Refused> {
  const error = await call.then(
    () => expect.unreachable("the call should have been refused"),
    (failure: unknown) => failure,
  );
  if (!(error instanceof Refused)) {
    throw error;
  }
  expect(error.message).toMatch(refusal.text);
  if (typeof refusal.text === "string") {
    expect(error.message).toBe(refusal.text);
  }
  expect(error.grpcCode ?? error.httpStatus).toBe(error.grpcCode === undefined ? refusal.httpStatus : refusal.grpcCode);
  // Errors of the documented session routes have only a text.
  if (error.grpcCode !== undefined || error.reason !== undefined) {
    expect(error.reason).toBe(refusal.reason);
  }
  return error;
}

export const sessionNotFound: Refusal = {
  grpcCode: "NOT_FOUND",
  httpStatus: 404,
  reason: "SESSION_NOT_FOUND",
  text: "session not found",
};

export const runNotFound: Refusal = {
  grpcCode: "NOT_FOUND",
  httpStatus: 404,
  reason: "RUN_NOT_FOUND",
  text: "run not found",
};
