// The gate with handlers of the test behind it: timeouts, operations, and when the audit is written.

import { createContextValues } from "@connectrpc/connect";
import { expect } from "vitest";
import { setAdmission } from "../../src/platform/auth/caller.ts";
import { RateLimit } from "../../src/platform/auth/rate-limit.ts";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { type HostCall, streamHostRun, withHostRun } from "../../src/protocols/langbot/host/access.ts";
import { openHostRate } from "../../src/protocols/langbot/host/rate.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { openStage, type Runner, requestCancel, type Stage, test } from "./stage.ts";

interface Gate {
  readonly deps: Parameters<typeof withHostRun>[0];
  readonly context: Parameters<typeof withHostRun>[1];
  readonly leave: () => void;
}

function openGate({ db }: Stage, { runId }: Runner, clock: Clock = systemClock): Gate {
  const values = createContextValues();
  setAdmission(values, { caller: { kind: "run", runId, attempt: 1 }, network: "" });
  const leaving = new AbortController();
  return {
    deps: { db, clock, hostRate: openHostRate(clock) },
    context: { values, signal: leaving.signal },
    leave: () => leaving.abort(new Error("the caller left")),
  };
}

const callOf = ({ runId }: Runner, call: Partial<HostCall> = {}): HostCall => ({ runId, action: "run_get", ...call });

/** Runs until its signal aborts, and fails with the reason. */
async function untilAborted({ signal }: { signal: AbortSignal }): Promise<never> {
  const stopped = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => stopped.reject(signal.reason));
  return await stopped.promise;
}

test("an operation that the grant does not list is refused, and so is a name that every object inherits", async () => {
  const stage = await openStage();
  const runner = await stage.addRunner({
    grant: {
      models: { all: ["invoke", "stream"], none: [] },
      tools: { clock: ["detail"] },
      knowledgeBases: { kb: ["list"] },
    },
  });
  const { deps, context } = openGate(stage, runner);
  const ask = (needs: HostCall["needs"]) =>
    withHostRun(deps, context, callOf(runner, { action: "invoke_llm", needs }), async () => "done").catch(
      (error: { reason?: string }) => error.reason,
    );
  expect(await ask({ model: "all", operation: "stream" })).toBe("done");
  expect(await ask({ tool: "clock", operation: "detail" })).toBe("done");
  for (const needs of [
    { model: "all", operation: "rerank" },
    { model: "none", operation: "invoke" },
    { model: "unknown", operation: "invoke" },
    { model: "constructor", operation: "name" },
    { model: "__proto__", operation: "invoke" },
    { tool: "clock", operation: "call" },
    { knowledgeBase: "kb", operation: "retrieve" },
  ]) {
    expect(await ask(needs)).toBe("GRANT_REFUSED");
  }
});

test("after a cancel request no model and no tool is called for the run", async ({ stage }) => {
  const runner = await stage.addRunner({ grant: { tools: { clock: ["call"] } } });
  const { deps, context } = openGate(stage, runner);
  const call = callOf(runner, { action: "call_tool", needs: { tool: "clock", operation: "call" } });
  let calls = 0;
  const work = async () => (calls += 1);
  await withHostRun(deps, context, call, work);
  await requestCancel(stage.db, runner.runId);
  await expect(withHostRun(deps, context, call, work)).rejects.toMatchObject({
    reason: "GRANT_REFUSED",
    message: "run is being cancelled",
  });
  expect(calls).toBe(1);
  const seen = await withHostRun(deps, context, callOf(runner), async ({ isCancelling }) => isCancelling);
  expect(seen).toBe(true);
  expect((await stage.audit(runner.runId)).map(({ resource, reason }) => [resource, reason])).toEqual([
    ["clock", ""],
    ["clock", "run is being cancelled"],
    ["", ""],
  ]);
});

test("a call of a model or a tool is audited before it is made", async ({ stage }) => {
  const runner = await stage.addRunner({ grant: { tools: { clock: ["call"] } } });
  const { deps, context } = openGate(stage, runner);
  const call = callOf(runner, { action: "call_tool", needs: { tool: "clock", operation: "call" } });
  await withHostRun(deps, context, call, async () => {
    expect(await stage.audit(runner.runId)).toMatchObject([{ action: "call_tool", result: "allow" }]);
  });
  expect(await stage.audit(runner.runId)).toHaveLength(1);
});

test("an action that exceeds its timeout is abandoned, and its signal aborts", async ({ stage }) => {
  const runner = await stage.addRunner();
  const clock = createManualClock();
  const { deps, context } = openGate(stage, runner, clock);
  const stopped = Promise.withResolvers<unknown>();
  const answer = withHostRun(deps, context, callOf(runner), async (run) => {
    run.signal.addEventListener("abort", () => stopped.resolve(run.signal.reason));
    // It ignores its signal.
    return await new Promise<never>(() => {});
  });
  const outcome = expect(answer).rejects.toMatchObject({ reason: "TIMEOUT", message: "no answer within 15 s" });
  await clock.slept(1);
  clock.advance(15_000);
  await outcome;
  expect(await stopped.promise).toMatchObject({ reason: "TIMEOUT" });
  expect(await stage.audit(runner.runId)).toMatchObject([{ result: "allow", reason: "TIMEOUT" }]);
});

test("an action ends at the deadline of its run when that is sooner", async ({ stage }) => {
  const runner = await stage.addRunner({ timeoutMs: 100_000 });
  const clock = createManualClock();
  const { deps, context } = openGate(stage, runner, clock);
  const answer = withHostRun(deps, context, callOf(runner, { action: "invoke_llm" }), untilAborted);
  const outcome = expect(answer).rejects.toMatchObject({ reason: "RUN_DEADLINE_EXCEEDED" });
  // Its own timeout, and the periodic check of the run.
  await clock.slept(2);
  expect(Math.max(...clock.delaysMs)).toBeLessThanOrEqual(100_000);
  clock.advance(100_000);
  await outcome;
});

test("when the caller leaves, the signal of its action aborts", async ({ stage }) => {
  const runner = await stage.addRunner();
  const { deps, context, leave } = openGate(stage, runner);
  const begun = Promise.withResolvers<void>();
  const answer = withHostRun(deps, context, callOf(runner), (run) => {
    begun.resolve();
    return untilAborted(run);
  });
  const outcome = expect(answer).rejects.toThrow("the caller left");
  await begun.promise;
  leave();
  await outcome;
  expect(await stage.audit(runner.runId)).toHaveLength(1);
});

test("a stream has a timeout for each message, and the run's deadline for all of them", async ({ stage }) => {
  const runner = await stage.addRunner({ timeoutMs: 300_000 });
  const clock = createManualClock();
  const { deps, context } = openGate(stage, runner, clock);
  const open = () =>
    streamHostRun(deps, context, callOf(runner, { action: "invoke_llm_stream" }), async function* () {
      for (let message = 1; ; message++) {
        await clock.sleep(100_000);
        yield message;
      }
    });
  const stream = open();
  const take = async () => {
    const next = stream.next();
    await clock.slept(sleeps + 2);
    sleeps += 2;
    clock.advance(100_000);
    return await next;
  };
  let sleeps = 0;
  // A hundred seconds each: the maximum for a message is 120.
  expect(await take()).toEqual({ done: false, value: 1 });
  expect(await take()).toEqual({ done: false, value: 2 });
  await expect(take()).rejects.toMatchObject({ reason: "RUN_DEADLINE_EXCEEDED" });
  expect(await stream.next()).toMatchObject({ done: true });
  expect(await stage.audit(runner.runId)).toHaveLength(1);
});

test("a stream that its reader leaves ends its generator, with one audit entry", async ({ stage }) => {
  const runner = await stage.addRunner();
  const { deps, context } = openGate(stage, runner);
  const ended = Promise.withResolvers<void>();
  for await (const message of streamHostRun(
    deps,
    context,
    callOf(runner, { action: "artifact_read" }),
    async function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        ended.resolve();
      }
    },
  )) {
    expect(message).toBe(1);
    break;
  }
  await ended.promise;
  expect(await stage.audit(runner.runId)).toMatchObject([{ action: "artifact_read", result: "allow", reason: "" }]);
});

test("the rate limit is checked before the grant, and each run has its own", async ({ stage }) => {
  const [one, other] = [await stage.addRunner(), await stage.addRunner()];
  const clock = createManualClock();
  const hostRate = new RateLimit({ clock, requestsPerSecond: 1, burst: 1 });
  const ask = (runner: Runner) => {
    const { deps, context } = openGate(stage, runner, clock);
    return withHostRun(
      { ...deps, hostRate },
      context,
      callOf(runner, { needs: { file: "none" } }),
      async () => {},
    ).catch((error: { reason?: string }) => error.reason);
  };
  expect(await ask(one)).toBe("GRANT_REFUSED");
  expect(await ask(one)).toBe("RATE_LIMITED");
  expect(await ask(other)).toBe("GRANT_REFUSED");
  clock.advance(1_000);
  expect(await ask(one)).toBe("GRANT_REFUSED");
});
