// Retries, with a model that plays back prepared responses and a manual clock.

import { describe, expect, test } from "vitest";
import type { Model, ModelFailure, ModelPart, ModelRequest } from "../../src/agent/models/model.ts";
import { delayMaxMs, parkAfterMs, type RetryOptions, withRetry } from "../../src/agent/models/retry.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";

const request: ModelRequest = { system: "", messages: [], tools: [], maxTokens: 1, temperature: undefined };
const text: ModelPart = { type: "text", text: "hi" };
const finish: ModelPart = { type: "finish", reason: "stop", usage: undefined };
const passing: ModelFailure = {
  type: "failure",
  cause: "unavailable",
  code: "503",
  message: "busy",
  retryable: true,
  retryAfterMs: undefined,
};
const refused: ModelFailure = { ...passing, message: "refused", retryable: false };

function playBack(...responses: readonly (readonly ModelPart[])[]): Model & { readonly attempts: number } {
  let attempts = 0;
  return {
    provider: "tape",
    name: "tape",
    get attempts() {
      return attempts;
    },
    async *stream() {
      yield* responses[attempts++] ?? [];
    },
  };
}

function retry(model: Model, clock: ManualClock, overrides: Partial<RetryOptions> = {}, signal?: AbortSignal) {
  const options = { clock, baseDelayMs: 1000, attemptsMax: 4, random: () => 0.5, ...overrides };
  return Array.fromAsync(withRetry(model, options).stream(request, signal ?? new AbortController().signal));
}

describe("a retryable failure before anything was emitted", () => {
  test("is retried after delays that double, and only the last response is seen", async () => {
    const clock = createManualClock({ jump: true });
    const model = playBack([passing], [passing], [passing], [text, finish]);
    expect(await retry(model, clock)).toEqual([text, finish]);
    expect(clock.delaysMs).toEqual([1000, 2000, 4000]);
  });

  test("is passed on when the attempts are used up", async () => {
    const clock = createManualClock({ jump: true });
    const model = playBack([passing], [passing], [passing], [passing], [text, finish]);
    expect(await retry(model, clock)).toEqual([passing]);
    expect(model.attempts).toBe(4);
  });

  test.each([
    [0, 800],
    [0.999999, 1200],
  ])("waits up to 20 %% less or more at random (random %d)", async (random, delayMs) => {
    const clock = createManualClock({ jump: true });
    await retry(playBack([passing], [finish]), clock, { random: () => random });
    expect(clock.delaysMs[0]).toBeCloseTo(delayMs, 0);
  });

  test("never waits longer than the maximum", async () => {
    const clock = createManualClock({ jump: true });
    await retry(playBack([passing], [finish]), clock, { baseDelayMs: 60_000, random: () => 0.999 });
    expect(clock.delaysMs).toEqual([delayMaxMs]);
  });

  test("waits as long as the provider asked when that is short", async () => {
    const clock = createManualClock({ jump: true });
    await retry(playBack([{ ...passing, retryAfterMs: parkAfterMs }], [finish]), clock);
    expect(clock.delaysMs).toEqual([parkAfterMs]);
  });

  test("waits at least the backoff, also when the provider asks for less", async () => {
    const clock = createManualClock({ jump: true });
    await retry(playBack([{ ...passing, retryAfterMs: 0 }], [finish]), clock);
    expect(clock.delaysMs).toEqual([1000]);
  });

  test("is passed on at once when the provider asks for a long wait", async () => {
    const clock = createManualClock({ jump: true });
    const limited = { ...passing, retryAfterMs: parkAfterMs + 1 };
    expect(await retry(playBack([limited], [finish]), clock)).toEqual([limited]);
    expect(clock.delaysMs).toEqual([]);
  });
});

test.each<ModelPart>([
  text,
  { type: "reasoning", text: "hm" },
  { type: "tool-call", call: { id: "a", name: "b", argumentsJson: "{}" } },
])("a failure after a part of type $type is passed on, so that nothing is emitted twice", async (part) => {
  const clock = createManualClock({ jump: true });
  const model = playBack([part, passing], [finish]);
  expect(await retry(model, clock)).toEqual([part, passing]);
  expect(model.attempts).toBe(1);
});

test("a failure that is not retryable is passed on at once", async () => {
  const model = playBack([refused], [finish]);
  expect(await retry(model, createManualClock({ jump: true }))).toEqual([refused]);
  expect(model.attempts).toBe(1);
});

test("an abort during the wait ends the stream without another attempt", async () => {
  const clock = createManualClock();
  const abort = new AbortController();
  const model = playBack([passing], [finish]);
  const parts = retry(model, clock, {}, abort.signal);
  await clock.slept(1);
  abort.abort();
  expect(await parts).toEqual([]);
  expect(model.attempts).toBe(1);
});

test("the name of the model stays the same", () => {
  const options = { clock: createManualClock(), baseDelayMs: 1, attemptsMax: 1, random: Math.random };
  expect(withRetry(playBack(), options).name).toBe("tape");
});
