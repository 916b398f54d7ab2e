// The settings of Chat Completions.

import { RawJson } from "../../../platform/base/json/exact.ts";
import type { ModelSettings, SettingName, ToolChoice } from "../model.ts";

/** The settings of OpenAI's own service. */
export const chatSettings: ReadonlySet<SettingName> = new Set([
  ...(["toolChoice", "parallelToolCalls", "topP", "stop", "seed", "frequencyPenalty", "presencePenalty"] as const),
  ...(["verbosity", "serviceTier", "topLogprobs", "logitBias", "prediction"] as const),
]);

/** The settings of compatible servers. Many of them have `top_k` too. */
export const compatibleSettings: ReadonlySet<SettingName> = new Set([...chatSettings, "topK"]);

/** Returns the settings of an account. */
export function settingsOf(provider: string): ReadonlySet<SettingName> {
  return provider === "openai" ? chatSettings : compatibleSettings;
}

/** Returns the fields of a body, without those that are unset: the caller's own options stay there. */
export function writeSettings(
  settings: ModelSettings,
  { provider, hasTools }: { readonly provider: string; readonly hasTools: boolean },
): object {
  const { toolChoice, parallelToolCalls, stop } = settings;
  const fields = {
    tool_choice: hasTools && toolChoice !== undefined ? writeChoice(toolChoice) : undefined,
    parallel_tool_calls: hasTools ? parallelToolCalls : undefined,
    top_p: settings.topP,
    top_k: settingsOf(provider).has("topK") ? settings.topK : undefined,
    stop,
    seed: settings.seed,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
    verbosity: settings.verbosity,
    service_tier: settings.serviceTier,
    logprobs: settings.topLogprobs === undefined ? undefined : true,
    top_logprobs: settings.topLogprobs,
    logit_bias: rawOf(settings.logitBias),
    prediction: rawOf(settings.prediction),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function rawOf(json: string | undefined): RawJson | undefined {
  return json === undefined ? undefined : new RawJson(json);
}

function writeChoice(choice: ToolChoice): string | object {
  return typeof choice === "string" ? choice : { type: "function", function: { name: choice.name } };
}
