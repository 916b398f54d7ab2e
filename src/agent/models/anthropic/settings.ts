// The settings of a request that the Messages format has, and their fields.

import { parseObject } from "../../../platform/base/json/parse-object.ts";
import type { ModelRequest, ModelSettings, SettingName, ToolChoice } from "../model.ts";
import { asRecord, textOf } from "../wire/frame.ts";
import type { Abilities } from "./thinking.ts";

/** The settings that the format has. It has no seed, no penalties and no verbosity. */
export const anthropicSettings: ReadonlySet<SettingName> = new Set([
  "toolChoice",
  "parallelToolCalls",
  "topP",
  "topK",
  "stop",
  "serviceTier",
  "maxProviderCalls",
]);

/** Returns the fields of all settings but those of the sampling. */
export function settingFields({ settings = {}, tools, providerTools = [] }: ModelRequest): object {
  const { stop = [], serviceTier } = settings;
  const choice = tools.length + providerTools.length === 0 ? undefined : toolChoiceOf(settings);
  return {
    ...(choice !== undefined && { tool_choice: choice }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(tiers.has(serviceTier) && { service_tier: serviceTier }),
  };
}

/**
 * Returns a tool that the service runs, with the maximum number of its calls. The service limits searches and fetches, and refuses the
 * field in other tools. A maximum that the tool has itself stays.
 */
export function limitCalls(tool: string, { maxProviderCalls }: ModelSettings): string {
  const { type, max_uses: own } = asRecord(parseObject(tool));
  const isLimited = maxProviderCalls !== undefined && own === undefined && limited.test(textOf(type));
  return isLimited ? `${tool.slice(0, tool.lastIndexOf("}"))},"max_uses":${maxProviderCalls}}` : tool;
}

const limited = /^web_(?:search|fetch)_/;

/** The tiers of the service, which refuses all other names. A tier is a hint, so one of another provider is left out. */
const tiers: ReadonlySet<string | undefined> = new Set(["auto", "standard_only"]);

/**
 * Returns the fields of the sampling. Models that think, and the newest ones, refuse all of them. Models of Claude refuse `top_p` beside
 * a temperature.
 */
export function samplingFields(
  { model, isThinking, takesSampling }: Pick<Abilities, "takesSampling"> & { model: string; isThinking: boolean },
  { temperature, settings: { topP, topK } = {} }: ModelRequest,
): object {
  if (isThinking || !takesSampling) {
    return {};
  }
  const isBoth = temperature !== undefined && model.includes("claude-");
  return {
    ...(temperature !== undefined && { temperature: Math.min(Math.max(temperature, 0), temperatureMax) }),
    ...(topP !== undefined && !isBoth && { top_p: topP }),
    ...(topK !== undefined && { top_k: topK }),
  };
}

/** Callers may give up to 2, as OpenAI's models accept it. */
const temperatureMax = 1;

function toolChoiceOf({ toolChoice, parallelToolCalls }: ModelSettings): object | undefined {
  if (toolChoice === undefined && parallelToolCalls !== false) {
    return undefined;
  }
  const choice = toolChoice === undefined ? { type: "auto" } : wireChoice(toolChoice);
  // Without calls there is nothing to run in parallel, and the service refuses the field there.
  const isSingle = parallelToolCalls === false && toolChoice !== "none";
  return isSingle ? { ...choice, disable_parallel_tool_use: true } : choice;
}

function wireChoice(choice: ToolChoice): object {
  if (typeof choice === "object") {
    return { type: "tool", name: choice.name };
  }
  return { type: choice === "required" ? "any" : choice };
}
