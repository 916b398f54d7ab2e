// The settings of a response that generateContent knows, under its own names. Pure.

import type { ModelSettings, SettingName, ToolChoice } from "../model.ts";

/** The settings that reach a model of Gemini. */
export const geminiSettings: ReadonlySet<SettingName> = new Set([
  "toolChoice",
  "topP",
  "topK",
  "stop",
  "seed",
  "frequencyPenalty",
  "presencePenalty",
  "topLogprobs",
]);

/** Returns the fields of `generationConfig`; undefined where a setting is. */
export function samplingOf(settings: ModelSettings | undefined): object {
  const { topP, topK, stop, seed, frequencyPenalty, presencePenalty, topLogprobs } = settings ?? {};
  return {
    ...{ topP, topK, stopSequences: stop, seed, frequencyPenalty, presencePenalty },
    responseLogprobs: topLogprobs === undefined ? undefined : true,
    // Some models refuse 0. Without a number they give the chosen tokens alone.
    logprobs: topLogprobs === 0 ? undefined : topLogprobs,
  };
}

/** Returns the `functionCallingConfig` for a choice of tools. */
export function callingOf(choice: ToolChoice): object {
  return typeof choice === "string" ? { mode: modes[choice] } : { mode: "ANY", allowedFunctionNames: [choice.name] };
}

/** Returns whether the model must call a tool, so that its response has no text. */
export function forcesCall(choice: ToolChoice | undefined): boolean {
  return choice !== undefined && choice !== "none";
}

const modes = { none: "NONE", required: "ANY" } as const satisfies Record<ToolChoice & string, string>;
