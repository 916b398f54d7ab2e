// The settings that the Responses format knows, and how it names them.

import type { ModelSettings, SettingName } from "../model.ts";

/** Settings that this format knows. It has no `top_k`, stop texts, seed or penalties. */
export const responsesSettings: ReadonlySet<SettingName> = new Set([
  "toolChoice",
  "parallelToolCalls",
  "topP",
  "verbosity",
  "serviceTier",
  "topLogprobs",
  "maxProviderCalls",
]);

/** Facts of a request that decide which settings it may have. */
export interface SettingsContext {
  /** Without tools, a choice of tools is refused. */
  readonly hasTools: boolean;
  /** Models that reason refuse `top_p` as they refuse the temperature. */
  readonly reasons: boolean;
}

/** Returns the fields of the body for the settings. `verbosity` is not among them, because it stands beside the format of the text. */
export function printSettings(
  { toolChoice, parallelToolCalls, topP, serviceTier, topLogprobs, maxProviderCalls }: ModelSettings,
  { hasTools, reasons }: SettingsContext,
): Readonly<Record<string, unknown>> {
  return {
    ...(hasTools && toolChoice !== undefined && { tool_choice: printChoice(toolChoice) }),
    ...(hasTools && parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(hasTools && maxProviderCalls !== undefined && { max_tool_calls: maxProviderCalls }),
    ...(!reasons && topP !== undefined && { top_p: topP }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
    ...(topLogprobs !== undefined && { top_logprobs: topLogprobs }),
  };
}

function printChoice(choice: NonNullable<ModelSettings["toolChoice"]>): unknown {
  return typeof choice === "string" ? choice : { type: "function", name: choice.name };
}
