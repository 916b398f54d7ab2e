// The fields of thoughts and of the sampling that each model accepts. Models refuse fields that they do not support, so the name of the
// model decides. A name may have a prefix or a suffix, as at resellers. Pure.

import type { ReasoningEffort } from "../model.ts";

/** What a model accepts. */
export interface Abilities {
  readonly outputTokensMax: number;
  /** True when a request for more tokens would be refused; false when the maximum is a guess. */
  readonly isMaxKnown: boolean;
  /** True for models that decide themselves how much they think, within an effort. Others think within a number of tokens. */
  readonly isAdaptive: boolean;
  /** Whether the model accepts a temperature and the like. */
  readonly takesSampling: boolean;
}

const old: Abilities = { outputTokensMax: 4_096, isMaxKnown: true, isAdaptive: false, takesSampling: true };
const current: Abilities = { ...old, outputTokensMax: 128_000, isAdaptive: true };
const unsampled: Abilities = { ...current, takesSampling: false };

/** The first matching row decides. */
const rows: readonly (readonly [pattern: RegExp, Abilities])[] = [
  [/claude-(sonnet|opus|haiku|fable)-5|claude-opus-4-[78]/, unsampled],
  [/claude-(sonnet|opus)-4-6/, current],
  [/claude-(sonnet|opus|haiku)-4-5/, { ...old, outputTokensMax: 64_000 }],
  [/claude-opus-4-1/, { ...old, outputTokensMax: 32_000 }],
  [/claude-sonnet-4[-@]/, { ...old, outputTokensMax: 64_000 }],
  [/claude-opus-4[-@]/, { ...old, outputTokensMax: 32_000 }],
  [/claude-3-haiku/, old],
  [/claude-(instant|v?2|3)(?=$|[-.:])/, { ...old, isMaxKnown: false }],
  // Models of tomorrow are most likely like the newest ones.
  [/claude-/, { ...unsampled, isMaxKnown: false }],
];

/** Returns what a model accepts. A model of another maker is taken for an old one. */
export function abilitiesOf(modelName: string): Abilities {
  return rows.find(([pattern]) => pattern.test(modelName))?.[1] ?? { ...old, isMaxKnown: false };
}

/** How a request asks for thoughts. */
export interface Thinking {
  readonly thinking: Readonly<Record<string, unknown>>;
  /** Undefined for models that think within a number of tokens. */
  readonly effort?: string;
}

/** The share of the output that a model may think. */
const shares: Readonly<Record<ReasoningEffort, number>> = { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6 };

/** The service refuses a smaller budget. */
const budgetTokensMin = 1_024;

/** Returns the fields that ask a model to think with this effort. */
export function thinkingOf(effort: ReasoningEffort, { isAdaptive, outputTokensMax }: Abilities): Thinking {
  if (isAdaptive) {
    return { thinking: { type: "adaptive", display: "summarized" }, effort: effort === "minimal" ? "low" : effort };
  }
  const budget = Math.max(budgetTokensMin, Math.round(outputTokensMax * shares[effort]));
  return { thinking: { type: "enabled", budget_tokens: budget } };
}
