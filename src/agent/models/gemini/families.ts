// The differences between model families in requests: signatures of calls, system instructions, and how much a model thinks. Pure.

import type { ReasoningEffort } from "../model.ts";

/** Gemini models before 3. All other names of Gemini mean a newer model. */
const before3 = /^gemini-(?:[12](?:[.-]|$)|pro(?:-vision)?$|robotics-er-1\.5(?:[.-]|$))/i;

/** Returns whether the model is a Gemini 3 or newer: these models refuse calls of theirs without a signature. */
export function isGemini3(modelName: string): boolean {
  return /^gemini-/i.test(modelName) && !before3.test(modelName);
}

/** Returns whether the model has system instructions. Gemma reads them in the first message. */
export function takesSystemInstruction(modelName: string): boolean {
  return !/^gemma-/i.test(modelName);
}

/** The part of a thinking config that says how much to think. */
export type ThinkingAmount = { readonly thinkingLevel: string } | { readonly thinkingBudget: number };

/**
 * Returns how much a model thinks for an effort: as a level since Gemini 3, before that as a number of tokens. Returns undefined
 * for models that never think.
 */
export function thinkingAmount(modelName: string, effort: ReasoningEffort): ThinkingAmount | undefined {
  if (withoutThoughts.some((names) => names.test(modelName))) {
    return undefined;
  }
  if (isGemini3(modelName) && !modelName.includes(imageModel)) {
    const isMissing = effort === "minimal" && withoutMinimal.some((names) => names.test(modelName));
    return { thinkingLevel: (isMissing ? "low" : effort).toUpperCase() };
  }
  const isLarge = modelName.includes("2.5-pro") || modelName.includes(imageModel);
  return { thinkingBudget: Math.min(budgetTokens[effort], isLarge ? 32_768 : 24_576) };
}

/** Models that refuse a request for an amount of thoughts. */
const withoutThoughts: readonly RegExp[] = [
  /^gemini-(?:1(?:[.-]|$)|2(?:\.0)?(?:-|$)|pro(?:-vision)?$|2\.5-flash-image\b)/i,
  /^gemini-.*-(?:tts|audio)\b/i,
  /^gemma-[123](?!\d)/i,
];

/** The one Gemini 3 that takes a number of tokens. */
const imageModel = "gemini-3-pro-image";

/** Models whose lowest level is `low`. */
const withoutMinimal: readonly RegExp[] = [
  /^gemini-flash-latest$/i,
  /^gemini-(?:[3-9]|\d{2,})(?:\.\d+)?-pro(?:-|$)/i,
  /^gemini-(?:3\.(?:[7-9]|\d{2,})|(?:[4-9]|\d{2,})\.\d+)-flash(?!-lite(?:-|$))(?:-|$)/i,
  /^gemini-4-hydrogen(?:-|$)/i,
];

/** Two, ten, thirty and sixty percent of the longest answer, 65,536 tokens. */
const budgetTokens: Readonly<Record<ReasoningEffort, number>> = {
  minimal: 1311,
  low: 6554,
  medium: 19_661,
  high: 39_322,
};
