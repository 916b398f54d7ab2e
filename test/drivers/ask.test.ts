// One question of a job to a model that takes longer than the spec allows.

import { expect, onTestFinished, test } from "vitest";
import { DayBudget } from "../../src/agent/budget/day-budget.ts";
import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { noRunSpan } from "../../src/platform/telemetry/traces.ts";
import { ask } from "../../src/protocols/jobspec/benchmark/ask.ts";
import { openProvider } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { until } from "../harness/wait.ts";
import { openStore } from "../runlog/store.ts";

test("an answer past constraints.provider_timeout fails with the name of the setting, and a cancel does not", async () => {
  const { db } = await openStore({ poolSize: 1 });
  const clock = createManualClock({ nowMs: Date.parse("2026-01-01T00:00:00Z") });
  const provider = await openProvider();
  const models = createOpenAiCompatible({ name: "openai", baseUrl: provider.baseUrl, apiKey: "key", clock });
  onTestFinished(() => models.close());
  const none = { tokens: 0, costMicroUsd: 0 };
  const dayBudget = new DayBudget({ db, clock, events: createEvents(createLogger("silent"), {}), max: none });
  const stop = new AbortController();
  const begin = async (asked: number) => {
    const hang = Promise.withResolvers<void>();
    onTestFinished(() => hang.resolve());
    provider.respond(() => hang.promise);
    const context = { runId: "run", client: "key/local", signal: stop.signal, span: noRunSpan };
    const model = models.model("gpt-4o");
    const options = {
      context,
      model,
      text: "Well?",
      maxTokens: 100,
      timeoutMs: 30_000,
      runMax: none,
      dayBudget,
      clock,
    };
    const next = ask(options, { turn: 1, before: {} }).next();
    await until("the model is asked", () => provider.requests.length === asked);
    return next;
  };
  const slow = await Promise.all([
    begin(1),
    until("asked", () => provider.requests.length === 1).then(() => clock.advance(30_000)),
  ]);
  expect(slow[0]).toMatchObject({
    done: true,
    value: { why: { code: "timeout", retryable: true, message: expect.stringContaining("(30 s)") } },
  });
  const [stopped] = await Promise.all([
    begin(2),
    until("asked", () => provider.requests.length === 2).then(() => stop.abort()),
  ]);
  expect(stopped).toMatchObject({ done: true, value: { why: "aborted" } });
});
