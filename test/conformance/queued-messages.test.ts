// Messages that wait while a run of their session is active: they begin in order, also after runs that failed or were cancelled.

import { describe, expect, test } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { answer, type Script } from "../fakes/provider.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { until } from "../harness/wait.ts";
import { expectRefused, setStage } from "./stage.ts";
import type { Surface } from "./surface.ts";
import { findSurface } from "./surfaces.ts";

const kinds = ["gRPC", "REST", "Connect, HTTP/1.1, JSON"].map(findSurface);

const busy = {
  grpcCode: "FAILED_PRECONDITION",
  httpStatus: 409,
  reason: "SESSION_BUSY",
  text: "session already running",
};

interface Gate {
  readonly script: Script;
  readonly open: () => void;
}

/** A provider's answer that waits until the gate opens. */
function gated(text: string): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    script: async (wire, request) => {
      await promise;
      await answer(text)(wire, request);
    },
    open: resolve,
  };
}

async function openSession(api: Surface, sessionId?: string): Promise<(message: string) => Promise<string>> {
  const { session_id: id } = await api.createSession({ ...(sessionId && { sessionId }), agent: { name: "tester" } });
  return async (message) => {
    const { run_id: runId } = await api.sendMessage({ sessionId: id, message, queueIfBusy: true });
    return runId;
  };
}

async function endOf(api: Surface, runId: string) {
  return (await Array.fromAsync(api.followRun(runId))).at(-1);
}

/** Returns the conversation that the model saw in a request, without the instructions. */
function seen(body: { messages: readonly { role: string; content?: unknown }[] }): unknown[] {
  return body.messages.filter(({ role }) => role !== "system").map(({ content }) => content);
}

describe.each(kinds)("over $name", (kind) => {
  test("they begin in the order in which they were sent, each after the answer before it", async () => {
    const { api, provider, service } = await setStage(kind, {}, { own: true });
    const first = gated("1");
    provider.respond(first.script, answer("2"), answer("3"));
    const send = await openSession(api, "chat");
    const runs = [await send("a"), await send("b"), await send("c")];
    await provider.request(0);
    expect(await api.getRun(runs[0] ?? "")).toMatchObject({ state: "running" });
    for (const runId of runs.slice(1)) {
      expect(await api.getRun(runId)).toMatchObject({ state: "queued", wait_reason: "session" });
      expect((await api.getRunInput(runId)).messages).toMatchObject([{ role: "user" }]);
    }
    expect((await api.listRuns({ states: [Run_State.QUEUED] })).runs).toHaveLength(2);
    await expectRefused(api.sendMessage({ sessionId: "chat", message: "now" }), busy);
    first.open();
    expect((await Promise.all(runs.map((runId) => endOf(api, runId)))).map((end) => end?.type)).toEqual(
      runs.map(() => "run.completed"),
    );
    expect(provider.requests.map(({ body }) => seen(body))).toEqual([
      ["a"],
      ["a", "1", "b"],
      ["a", "1", "b", "2", "c"],
    ]);
    await expectInvariants(service.databaseUrl);
  });

  test("one that is cancelled is never shown to the model, and the next one begins after a failed run", async () => {
    const { api, provider } = await setStage(kind);
    const first = gated("1");
    provider.respond(first.script, answer("2"));
    const send = await openSession(api);
    const [one, two, three] = [await send("a"), await send("b"), await send("c")];
    await provider.request(0);
    await api.cancelRun(two);
    expect(await api.getRun(two)).toMatchObject({ state: "cancelled", last_sequence: 1 });
    await api.cancelRun(one);
    expect((await endOf(api, one))?.type).toBe("run.failed");
    expect((await endOf(api, three))?.type).toBe("run.completed");
    expect(JSON.stringify(provider.requests.at(-1)?.body.messages)).not.toContain('"b"');
    first.open();
  });

  test("several messages and results of tools do not wait", async () => {
    const { api } = await setStage(kind);
    const { session_id: sessionId } = await api.createSession({ agent: { name: "tester" } });
    const text = (role: string, value: string) => ({ role, content: { case: "text" as const, value } });
    const refusal = {
      grpcCode: "INVALID_ARGUMENT",
      httpStatus: 400,
      reason: "INVALID_ARGUMENT",
      text: /queue_if_busy needs one message of the user/,
    };
    for (const messages of [[text("user", "a"), text("user", "b")], [{ role: "tool", toolCallId: "1" }]]) {
      await expectRefused(api.sendMessage({ sessionId, messages, queueIfBusy: true }), refusal);
    }
  });
});

const api = findSurface("gRPC");

test("the same request id gives the same run, whose agent may have any name", async () => {
  const stage = await setStage(api);
  const first = gated("1");
  stage.provider.respond(first.script, answer("2"));
  await stage.api.createSession({ sessionId: "again", agent: { name: "te\0ster" } });
  await stage.api.sendMessage({ sessionId: "again", message: "a" });
  const again = { sessionId: "again", message: "b", queueIfBusy: true, requestId: "r" };
  const { run_id: runId } = await stage.api.sendMessage(again);
  expect(await stage.api.sendMessage(again)).toMatchObject({ run_id: runId });
  first.open();
  expect((await endOf(stage.api, runId))?.type).toBe("run.completed");
  expect((await stage.api.listRuns({})).runs).toHaveLength(2);
});

test("a deleted session cancels them", async () => {
  const { api: surface, provider, service } = await setStage(api, {}, { own: true });
  const first = gated("1");
  provider.respond(first.script);
  const send = await openSession(surface, "gone");
  const runs = [await send("a"), await send("b")];
  await surface.deleteSession("gone");
  for (const runId of runs) {
    await until("its end", async () => (await surface.getRun(runId)).state === "cancelled");
  }
  first.open();
  await expectInvariants(service.databaseUrl);
});

test("a session has at most 100 of them", async () => {
  const { api: surface, provider } = await setStage(api, { rateLimitRps: 0 });
  const first = gated("1");
  provider.respond(first.script);
  const send = await openSession(surface, "full");
  for (let sent = 0; sent <= 100; sent++) {
    await send(String(sent));
  }
  await expectRefused(send("too many"), {
    grpcCode: "RESOURCE_EXHAUSTED",
    httpStatus: 429,
    reason: "CONCURRENCY_EXHAUSTED",
    text: "max pending messages of a session (100) reached",
  });
  await surface.cancelRuns({ sessionId: "full" });
  expect((await surface.listRuns({ states: [Run_State.QUEUED] })).runs).toEqual([]);
  first.open();
});

test("a session with many of them does not hold up another session", async () => {
  const { api: surface, provider } = await setStage(api, { runsSlots: 1 }, { own: true });
  const first = gated("1");
  provider.respond(first.script, ...["2", "3", "4"].map(answer));
  const many = await openSession(surface);
  const runs = [await many("many 1"), await many("many 2"), await many("many 3")];
  await provider.request(0);
  runs.push(await (await openSession(surface))("one"));
  first.open();
  await Promise.all(runs.map((runId) => endOf(surface, runId)));
  expect(provider.requests.map(({ body }) => seen(body).at(-1))).toEqual(["many 1", "one", "many 2", "many 3"]);
});
