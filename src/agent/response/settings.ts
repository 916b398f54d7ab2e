// Reads the settings of an agent that not all providers have. A value that changes nothing is no setting: libraries of callers send
// such values always.

import { type Agent, AgentSchema, type ToolChoice, ToolChoice_Mode, Verbosity } from "#gen/runnel/v1/session_pb.js";
import { invalidField } from "../../platform/base/fault.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import type { Model, ToolChoice as ModelChoice, ModelSettings, SettingName } from "../models/model.ts";
import { hints, providersWith } from "../models/providers.ts";
import { nameOfProviderTool } from "./provider-tools.ts";

/** Returns the settings of an agent. */
export function settingsOf(agent: Agent): ModelSettings {
  return {
    toolChoice: agent.toolChoice && choiceOf(agent.toolChoice),
    parallelToolCalls: agent.parallelToolCalls === false ? false : undefined,
    topP: otherThan(1, agent.topP),
    topK: agent.topK,
    stop: agent.stop.length > 0 ? agent.stop : undefined,
    seed: agent.seed === undefined ? undefined : Number(agent.seed),
    frequencyPenalty: otherThan(0, agent.frequencyPenalty),
    presencePenalty: otherThan(0, agent.presencePenalty),
    verbosity: verbosities[agent.verbosity],
    serviceTier: agent.serviceTier || undefined,
    topLogprobs: agent.topLogprobs,
    maxProviderCalls: agent.maxProviderCalls,
    logitBias: biasOf(agent),
    prediction: predictionOf(agent),
  };
}

/** Returns the settings of a later response of a run: the model is free to answer, so that the run can end. */
export function laterSettings({ toolChoice, ...settings }: ModelSettings): ModelSettings {
  return toolChoice === "none" ? { ...settings, toolChoice } : settings;
}

/** The tools of an agent, by name. */
export interface ToolNames {
  readonly names: readonly string[];
  /** True when a run of the agent may have more: only it lists the tools of MCP servers. */
  readonly isOpen?: boolean;
  readonly providerTools: readonly string[];
}

/**
 * Checks that a model has the settings of an agent, and that the agent has the tools that the model has to call.
 * @throws Fault INVALID_ARGUMENT that names the field, and the providers that have the setting.
 */
export function assertSettings(agent: Agent, model: Model, { names, isOpen = false, providerTools }: ToolNames): void {
  const { maxProviderCalls, ...others } = settingsOf(agent);
  // Without a tool that the provider runs, the maximum changes nothing.
  const settings: ModelSettings = { ...others, ...(providerTools.length > 0 && { maxProviderCalls }) };
  const toolNames = [...names, ...providerTools.map(nameOfProviderTool)];
  const refused = agentSettings.find(
    (name) => settings[name] !== undefined && !hints.has(name) && model.settings?.has(name) === false,
  );
  if (refused !== undefined) {
    const owners = providersWith(refused).join(", ");
    const problem = `${model.provider} has no such setting: leave it out, or use a model of ${owners}`;
    throw invalidField(`agent.${AgentSchema.field[refused].name}`, problem);
  }
  const { toolChoice } = settings;
  const isForced = toolChoice === "required" || typeof toolChoice === "object";
  if (isForced && toolNames.length === 0 && !isOpen) {
    throw invalidField("agent.tool_choice", "the agent has no tool to call: give it some, or leave the choice out");
  }
  if (typeof toolChoice === "object" && !toolNames.includes(toolChoice.name) && !isOpen) {
    const problem = `the agent has no tool ${JSON.stringify(toolChoice.name)}: name one of ${toolNames.join(", ")}`;
    throw invalidField("agent.tool_choice.name", problem);
  }
}

/** All settings, in the order of the contract. Each is a field of an agent. */
export const agentSettings = [
  ...(["toolChoice", "parallelToolCalls", "topP", "topK", "stop", "seed"] as const),
  ...(["frequencyPenalty", "presencePenalty", "verbosity", "serviceTier", "topLogprobs", "maxProviderCalls"] as const),
  ...(["logitBias", "prediction"] as const),
] as const satisfies readonly SettingName[];

function choiceOf({ mode, name }: ToolChoice): ModelChoice | undefined {
  return name === "" ? choices[mode] : { name };
}

const choices: Readonly<Record<ToolChoice_Mode, ModelChoice | undefined>> = {
  [ToolChoice_Mode.UNSPECIFIED]: undefined,
  // What every provider does by itself.
  [ToolChoice_Mode.AUTO]: undefined,
  [ToolChoice_Mode.NONE]: "none",
  [ToolChoice_Mode.REQUIRED]: "required",
};

const verbosities: Readonly<Record<Verbosity, ModelSettings["verbosity"]>> = {
  [Verbosity.UNSPECIFIED]: undefined,
  [Verbosity.LOW]: "low",
  [Verbosity.MEDIUM]: "medium",
  [Verbosity.HIGH]: "high",
};

/**
 * Returns the bias as JSON; undefined for none.
 * @throws Fault INVALID_ARGUMENT
 */
function biasOf({ logitBias }: Agent): string | undefined {
  const bias = logitBias === "" ? {} : parseObject(logitBias);
  const isValid = Object.values(bias ?? { none: undefined }).every(
    (value) => typeof value === "number" && Math.abs(value) <= logitBiasMax,
  );
  if (bias === undefined || !isValid) {
    throw invalidField("agent.logit_bias", `must be a JSON object of numbers from -${logitBiasMax} to ${logitBiasMax}`);
  }
  return Object.keys(bias).length === 0 ? undefined : logitBias;
}

const logitBiasMax = 100;

function predictionOf({ prediction }: Agent): string | undefined {
  if (prediction !== "" && parseObject(prediction) === undefined) {
    throw invalidField("agent.prediction", "must be a JSON object");
  }
  return prediction || undefined;
}

/** Returns a value unless it is the one that changes nothing. */
function otherThan(neutral: number, value: number | undefined): number | undefined {
  return value === neutral ? undefined : value;
}
