// The presets of a service: agents that its settings name.

import { create, fromJsonString } from "@bufbuild/protobuf";
import { type Agent, AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../platform/base/fault.ts";
import { suggest } from "../platform/base/nearest.ts";
import { invalidConfig } from "../platform/config/problem.ts";
import type { ServiceDeps } from "./deps.ts";

/** The agents of presets by name, in the order of the settings. */
export type Presets = ReadonlyMap<string, Agent>;

/** Reads the presets, and makes one for each runner without. Throws Fault CONFIG_INVALID for one that is no agent. */
export function readPresets({ config, runners }: Pick<ServiceDeps, "config" | "runners">): Presets {
  const { agentPresets } = config;
  const lines = agentPresets.length === 0 ? ["default={}"] : agentPresets;
  const ofSettings = new Map(lines.map(readPreset));
  const others = runners.filter(({ name }) => !ofSettings.has(name));
  return new Map([
    ...ofSettings,
    ...others.map(({ name }) => [name, create(AgentSchema, { name, runner: name })] as const),
  ]);
}

function readPreset(line: string): readonly [string, Agent] {
  const at = line.indexOf("=");
  const name = line.slice(0, at).trim();
  try {
    return [name, create(AgentSchema, { ...fromJsonString(AgentSchema, line.slice(at + 1)), name })];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalidConfig([{ field: "agents.presets", text: `agents.presets: ${name} is no agent: ${why}` }]);
  }
}

/** Returns the agent of a preset. Throws PRESET_NOT_FOUND. */
export function requirePreset(presets: Presets, name: string): Agent {
  const agent = presets.get(name);
  if (agent === undefined) {
    const names = [...presets.keys()];
    throw new Fault(
      "PRESET_NOT_FOUND",
      `there is no preset "${name}": this service has ${names.join(", ")}${suggest(name, names)}`,
    );
  }
  return agent;
}
