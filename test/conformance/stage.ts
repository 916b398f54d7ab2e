// What the cases share: a service in front of a provider that a test scripts, and whole streams as lists.

import { expect, onTestFinished } from "vitest";
import type { Config } from "../../src/platform/config/keys.ts";
import { type FakeProvider, startFakeProvider } from "../fakes/provider.ts";
import { startService, type TestService } from "../harness/service.ts";
import { Refused, type SessionEvent, type Surface } from "./surface.ts";
import type { SurfaceKind } from "./surfaces.ts";

export interface Stage {
  readonly provider: FakeProvider;
  readonly service: TestService;
  readonly api: Surface;
}

/** A service for one test; its default model is the provider's. */
export async function setStage(
  kind: SurfaceKind,
  flags: Partial<Config> = {},
  { own = false }: { readonly own?: boolean } = {},
): Promise<Stage> {
  const provider = await startFakeProvider();
  onTestFinished(() => provider.close());
  const { plainStreams = false } = kind;
  const service = await startService({ ...modelFlags(provider), ...flags }, { plainStreams, own });
  return { provider, service, api: kind.connect(service) };
}

/** Makes the provider's the model of agents that name none. */
export function modelFlags({ baseUrl }: FakeProvider): Partial<Config> {
  // A breaker would remember the failures of the test before: those of breakers say when it opens.
  return { openaiKey: "test-key", openaiBaseUrl: baseUrl, defaultModel: "gpt-4o-mini", circuitMaxFailures: 1_000 };
}

/** A session whose first message has been sent. */
export async function startConversation(
  api: Surface,
  agent: { readonly maxTurns?: number; readonly tools?: { builtin: string[] } } = {},
): Promise<{ sessionId: string; runId: string }> {
  const { session_id: sessionId } = await api.createSession({ agent: { name: "tester", ...agent } });
  const { run_id: runId } = await api.sendMessage({ sessionId, message: "hello" });
  return { sessionId, runId };
}

/** Every event of the session's latest run, from its start. */
export async function readSession(api: Surface, sessionId: string, after?: string): Promise<SessionEvent[]> {
  return await Array.fromAsync(api.followSession(sessionId, after));
}

/** What is the same in each run: types and payloads without positions and times. */
export function told(events: readonly SessionEvent[]): unknown[] {
  return events.map(({ type, payload: { duration_ms: _, ...payload } }) => [type, payload]);
}

/** What all surfaces say of one refusal, each in its own way. */
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
  // Errors of the documented session routes have no more than their text.
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
