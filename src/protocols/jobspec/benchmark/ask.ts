// Asks one model one question, within the timeout of the spec.

import type { Amount, DayBudget } from "../../../agent/budget/day-budget.ts";
import type { UsageTotals } from "../../../agent/budget/usage.ts";
import type { Model } from "../../../agent/models/model.ts";
import { type NoResponse, type Response, respond } from "../../../agent/response/respond.ts";
import type { DriverStep, RunContext } from "../../../engine/runs/driver.ts";
import { type Clock, over } from "../../../platform/base/clock.ts";

/** One question to one model, with its limits. */
export interface AskOptions {
  readonly context: Pick<RunContext, "runId" | "client" | "signal" | "span">;
  readonly model: Model;
  readonly text: string;
  readonly maxTokens: number;
  readonly timeoutMs: number;
  readonly runMax: Amount;
  readonly dayBudget: DayBudget;
  readonly clock: Clock;
}

/** Asks the model; yields its results. Returns the response, or why there was no response (`timeout` after `timeoutMs`). */
export async function* ask(
  { context, model, text, maxTokens, timeoutMs, runMax, dayBudget, clock }: AskOptions,
  { turn, before }: { turn: number; before: UsageTotals },
): AsyncGenerator<DriverStep, Response | NoResponse> {
  const timeout = new AbortController();
  const done = new AbortController();
  void clock.sleep(timeoutMs, done.signal).then(() => done.signal.aborted || timeout.abort());
  const signal = AbortSignal.any([context.signal, timeout.signal]);
  const request = {
    system: "",
    messages: [{ role: "user", text } as const],
    tools: [],
    maxTokens,
    temperature: undefined,
  };
  try {
    const { runId, client, span } = context;
    const answer = yield* respond({
      context: { runId, client, span, signal },
      model,
      request,
      turn,
      before,
      runMax,
      dayBudget,
    });
    return "why" in answer && answer.why === "aborted" && !context.signal.aborted
      ? { ...answer, why: tooSlow(model, timeoutMs) }
      : answer;
  } finally {
    done.abort(over);
  }
}

function tooSlow({ name }: Model, timeoutMs: number): Exclude<NoResponse["why"], "aborted"> {
  const message = `model ${name} took longer than constraints.provider_timeout (${timeoutMs / 1_000} s)`;
  return { type: "failure", cause: "timeout", message, code: "timeout", retryable: true, retryAfterMs: undefined };
}
