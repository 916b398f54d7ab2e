// The circuit breakers of a provider that several clients use, through the service.

import { expect, test } from "vitest";
import { retryDefaults } from "../../src/agent/models/retry.ts";
import { headersLimitMs } from "../../src/agent/models/wire/transport.ts";
import type { Surface } from "../conformance/surface.ts";
import { findSurface } from "../conformance/surfaces.ts";
import { answer, onChat, type Script } from "../fakes/provider.ts";
import { fail, type RecordedRequest, type WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createMovedClock, type MovedClock } from "../harness/moved-clock.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/wait.ts";

const adminToken = "an-admin-token-of-tests";
const failuresMax = 5;
const resetMs = 30_000;
const refused = { state: "failed", error: "failed to send message: circuit breaker is open" };
const completed = { state: "completed" };

interface Stage {
  readonly provider: WireServer;
  readonly clock: MovedClock;
  readonly alice: Surface;
  readonly bob: Surface;
  readonly carol: Surface;
  /** Returns the state of the provider as the administrator sees it. */
  readonly circuit: () => Promise<unknown>;
}

/** Starts a service in front of a provider that answers each message as `describe` says. */
async function setStage(describe: (message: string) => Script): Promise<Stage> {
  const provider = await openWireServer((request) => onChat(describe(messageOf(request))));
  const clock = createMovedClock();
  const flags = {
    authAdminToken: adminToken,
    compatibleBaseUrl: `${provider.origin}/v1`,
    circuitMaxFailures: failuresMax,
    circuitResetTimeoutSec: resetMs / 1_000,
  };
  const service = await startService(flags, { clock });
  const connect = (client: string) => findSurface("REST").connect(service, client);
  return {
    provider,
    clock,
    alice: connect("tenant-a"),
    bob: connect("tenant-b"),
    carol: connect("stranger"),
    circuit: async () => {
      const headers = { authorization: `Bearer ${adminToken}` };
      const { providers } = (await (await fetch(`${service.url}/v1/providers`, { headers })).json()) as {
        readonly providers: readonly { readonly name: string; readonly circuit?: string }[];
      };
      return providers.find(({ name }) => name === "compatible")?.circuit;
    },
  };
}

function messageOf({ body }: RecordedRequest): string {
  return String(body.messages.findLast(({ role }) => role === "user")?.content);
}

const isSilent = (request: RecordedRequest): boolean => messageOf(request) === "silent";

/** Sends a message to a model and returns the run that answers it. */
async function begin(api: Surface, message: string, model = "shared"): Promise<string> {
  const { session_id: sessionId } = await api.createSession({
    agent: { name: "tester", model: `compatible:${model}` },
  });
  return (await api.sendMessage({ sessionId, message })).run_id;
}

async function ended(api: Surface, runId: string) {
  await Array.fromAsync(api.followRun(runId));
  return await api.getRun(runId);
}

async function converse(api: Surface, message: string, model?: string) {
  return await ended(api, await begin(api, message, model));
}

const silence: Script = (wire) => wire.hang();
const down: Script = fail(503, "down");

test("requests that get no answer until they time out stop their client alone, and with their model alone", async () => {
  const { provider, clock, alice, bob, circuit } = await setStage((text) =>
    text === "silent" ? silence : answer("Hi."),
  );
  const runs = await Promise.all(Array.from({ length: 8 }, () => begin(alice, "silent")));
  await until("all requests", () => provider.requests.length === 8);
  clock.advance(headersLimitMs);
  for (const runId of runs) {
    expect(await ended(alice, runId)).toMatchObject(refused);
  }
  expect(await circuit()).toBe("open");
  expect(await converse(bob, "hello")).toMatchObject(completed);
  expect(await converse(bob, "hello", "other")).toMatchObject(completed);
  expect(await converse(alice, "hello", "other")).toMatchObject(completed);
  expect(await converse(alice, "hello")).toMatchObject(refused);
  // One request for each run of bob's and for alice's other model: nothing was delayed or sent twice.
  expect(provider.requests).toHaveLength(8 + 3);
});

test("requests that time out do not count while others get answers", async () => {
  const { provider, clock, alice, bob, carol, circuit } = await setStage((text) =>
    text === "silent" ? silence : answer("Hi."),
  );
  const silent = [alice, carol].flatMap((api) => Array.from({ length: 4 }, () => api));
  const runs = await Promise.all(silent.map((api) => begin(api, "silent")));
  for (let attempt = 1; attempt <= retryDefaults.attemptsMax; attempt++) {
    await until("all requests", () => provider.requests.filter(isSilent).length === attempt * runs.length);
    expect(await converse(bob, "hello")).toMatchObject(completed);
    clock.advance(headersLimitMs);
  }
  for (const [index, runId] of runs.entries()) {
    const { error } = await ended(silent[index] ?? alice, runId);
    expect(error).toBe("failed to send message: provider compatible did not answer within 30 s");
  }
  expect(await circuit()).toBe("closed");
});

test("a provider that fails several clients is not called for any client, until it answers again", async () => {
  let isDown = true;
  const { provider, clock, alice, bob, carol, circuit } = await setStage((text) =>
    isDown || text === "failing" ? down : answer("Hi."),
  );
  expect(await converse(alice, "hello")).toMatchObject({
    error: "failed to send message: API error (status 503): down",
  });
  expect(await converse(bob, "hello")).toMatchObject(refused);
  // Four requests of alice's count for three, and two of bob's.
  expect(provider.requests).toHaveLength(4 + 2);
  for (const api of [alice, bob, carol]) {
    expect(await converse(api, "hello")).toMatchObject(refused);
  }
  expect(provider.requests).toHaveLength(6);
  expect(await circuit()).toBe("open");

  isDown = false;
  clock.advance(resetMs);
  expect(await circuit()).toBe("half_open");
  expect(await converse(alice, "failing")).toMatchObject(refused);
  expect(await converse(alice, "hello")).toMatchObject(refused);
  expect(provider.requests).toHaveLength(7);
  // The failed probe of alice's was hers alone, and the answer to bob's closes the circuit for all.
  expect(await converse(bob, "hello")).toMatchObject(completed);
  expect(await circuit()).toBe("closed");
  expect(await converse(alice, "hello")).toMatchObject(completed);
  expect(await converse(carol, "hello")).toMatchObject(completed);
  expect(provider.requests).toHaveLength(10);
});

test("failures of two clients that lie far apart do not open the model for all", async () => {
  const { provider, clock, alice, bob, carol } = await setStage((text) => (text === "failing" ? down : answer("Hi.")));
  await converse(alice, "failing");
  clock.advance(10 * resetMs);
  await converse(bob, "failing");
  // Alice's four requests count no more. Bob's four are his alone.
  expect(provider.requests).toHaveLength(8);
  expect(await converse(bob, "failing")).toMatchObject(refused);
  expect(await converse(carol, "hello")).toMatchObject(completed);
});

test("a client alone opens its circuit to a dead provider", async () => {
  let isDown = true;
  const { provider, clock, alice, circuit } = await setStage(() => (isDown ? down : answer("Hi.")));
  await converse(alice, "hello");
  expect(await circuit()).toBe("closed");
  expect(await converse(alice, "hello")).toMatchObject(refused);
  expect(await circuit()).toBe("open");
  expect(await converse(alice, "hello")).toMatchObject(refused);
  expect(provider.requests).toHaveLength(failuresMax);
  isDown = false;
  clock.advance(resetMs);
  expect(await converse(alice, "hello")).toMatchObject(completed);
  expect(await circuit()).toBe("closed");
});
