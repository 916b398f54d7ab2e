import { describe, expect, test } from "vitest";
import { callTimeoutMs, runCall } from "../../src/agent/tools/call.ts";
import type { Tool, ToolContext, ToolOutcome } from "../../src/agent/tools/tool.ts";
import type { Clock } from "../../src/platform/base/clock.ts";
import { nowhere } from "./workspace.ts";

/** A clock that moves only when a test moves it. */
class ManualClock implements Clock {
  #nowMs = 0;
  readonly #sleepers = new Set<{ readonly wakeMs: number; readonly wake: () => void }>();

  get sleeperCount(): number {
    return this.#sleepers.size;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  async sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) {
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { wakeMs: this.#nowMs + delayMs, wake: resolve };
    this.#sleepers.add(sleeper);
    signal?.addEventListener("abort", resolve as () => void, { once: true });
    await promise;
    this.#sleepers.delete(sleeper);
  }

  /** Resolves when all due timers have run. */
  async advance(byMs: number): Promise<void> {
    this.#nowMs += byMs;
    for (const sleeper of this.#sleepers) {
      if (sleeper.wakeMs <= this.#nowMs) {
        sleeper.wake();
      }
    }
    await runPending();
  }
}

async function runPending(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

type Run = Tool["run"];

function makeTool(run: Run): Tool {
  return { name: "probe", description: "", parameters: {}, afterCrash: "again", run };
}

function start(run: Run, argumentsJson = "{}") {
  const clock = new ManualClock();
  const canceller = new AbortController();
  const context: ToolContext = { ...nowhere, sessionId: "s1", signal: canceller.signal };
  const outcome = runCall(makeTool(run), argumentsJson, context, { clock, timeoutMs: callTimeoutMs });
  return { clock, canceller, outcome };
}

const echo: Run = async (args) => ({ content: JSON.stringify(args) });

/** A tool that ends when its signal aborts, as most of ours do. */
const untilStopped: Run = async (_args, { signal }) => {
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  throw signal.reason;
};

const deaf: Run = () => new Promise<ToolOutcome>(() => {});

describe("arguments", () => {
  test("reach the tool as the model wrote them", async () => {
    expect(await start(echo, '{"path":"a","n":1.5}').outcome).toEqual({ content: '{"path":"a","n":1.5}' });
  });

  test.each(["", "  \n", "null", " null "])("of %j mean no arguments", async (argumentsJson) => {
    expect(await start(echo, argumentsJson).outcome).toEqual({ content: "{}" });
  });

  test.each([
    ["[]", "an array"],
    ["7", "number"],
    ['"a"', "string"],
    ["true", "boolean"],
  ])("of %s are refused with the type that was sent instead of an object", async (argumentsJson, what) => {
    expect(await start(echo, argumentsJson).outcome).toEqual({
      error: `invalid arguments: expected a JSON object, got ${what}`,
    });
  });

  test("that are not JSON are refused with the reason", async () => {
    expect(await start(echo, '{"path":').outcome).toEqual({
      error: expect.stringMatching(/^invalid arguments: not valid JSON \(.+\): send one JSON object$/),
    });
  });
});

describe("the outcome of a call", () => {
  test("is cut when it succeeded and whole when it failed", async () => {
    const long = "x".repeat(200_000);
    expect(await start(async () => ({ content: long })).outcome).toEqual({
      content: `${long.slice(0, 102_400)}\n... (truncated: showing 102400 of 200000 bytes)`,
    });
    expect(await start(async () => ({ error: long })).outcome).toEqual({ error: long });
  });

  test("is a panic when the tool throws, at once or later", async () => {
    const atOnce = start(() => {
      throw new Error("boom");
    });
    expect(await atOnce.outcome).toEqual({ error: "panic: boom" });
    expect(await start(async () => Promise.reject("later")).outcome).toEqual({ error: "panic: later" });
  });

  test("leaves no timer and no listener behind", async () => {
    const call = start(echo);
    await call.outcome;
    await runPending();
    expect(call.clock.sleeperCount).toBe(0);
    let stopped = false;
    const listening = start(async (_args, { signal }) => {
      signal.addEventListener("abort", () => {
        stopped = true;
      });
      return { content: "" };
    });
    await listening.outcome;
    listening.canceller.abort();
    await listening.clock.advance(callTimeoutMs);
    expect(stopped).toBe(false);
  });
});

describe("a call that does not end", () => {
  test("is stopped after exactly two minutes", async () => {
    const call = start(untilStopped);
    let ended = false;
    void call.outcome.then(() => {
      ended = true;
    });
    await call.clock.advance(119_999);
    expect(ended).toBe(false);
    await call.clock.advance(1);
    expect(await call.outcome).toEqual({ error: "tool call timed out after 120 seconds" });
  });

  test("is stopped when the run is cancelled", async () => {
    const call = start(untilStopped);
    call.canceller.abort();
    expect(await call.outcome).toEqual({ error: "context canceled" });
  });

  test("is abandoned when it ignores the stop", async () => {
    const call = start(deaf);
    await call.clock.advance(callTimeoutMs);
    await call.clock.advance(5_000);
    expect(await call.outcome).toEqual({ error: "tool call timed out after 120 seconds" });

    const cancelled = start(deaf);
    cancelled.canceller.abort();
    await runPending();
    await cancelled.clock.advance(5_000);
    expect(await cancelled.outcome).toEqual({ error: "context canceled" });
  });

  test("may still report what it had done when it was stopped", async () => {
    const call = start(async (_args, { signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      return { error: "half\nExit: signal: killed" };
    });
    await call.clock.advance(callTimeoutMs);
    expect(await call.outcome).toEqual({ error: "half\nExit: signal: killed" });
  });
});

test("a call of a run that was already cancelled does not start", async () => {
  let started = false;
  const tool = makeTool(async () => {
    started = true;
    return { content: "" };
  });
  const context = { ...nowhere, sessionId: "s1", signal: AbortSignal.abort() };
  const outcome = await runCall(tool, "{}", context, { clock: new ManualClock(), timeoutMs: callTimeoutMs });
  expect(outcome).toEqual({ error: "context canceled" });
  expect(started).toBe(false);
});
