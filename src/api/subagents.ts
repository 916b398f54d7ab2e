// Finds the settings of an agent that another agent calls as a tool.

import { create } from "@bufbuild/protobuf";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import type { ResolveSubagent } from "../agent/loop/child-runs.ts";
import { findBeyond, withApprovals } from "../agent/tools/within.ts";
import { invalidField } from "../platform/base/fault.ts";
import type { Config } from "../platform/config/keys.ts";
import { replaceSettings } from "./agent-settings.ts";
import { readPresets, requirePreset } from "./presets.ts";
import { findRunner, type OfferedRunner } from "./runners.ts";

/** Creates the look-up of subagents. */
export function createResolveSubagent(deps: {
  readonly config: Config;
  readonly runners: readonly OfferedRunner[];
  readonly defaultModel: string;
}): ResolveSubagent {
  const presets = readPresets(deps);
  return (subagent, { client, agent: parent }) => {
    const { name, preset, agent: own } = subagent;
    if (preset === "" && own === undefined) {
      throw invalidField(field, `${name} has no settings: set agent, preset or both`);
    }
    const settings = replaceSettings(preset === "" ? create(AgentSchema) : requirePreset(presets, preset), own);
    const beyond = subagent.handoff ? undefined : findBeyond(settings.tools, parent.tools);
    if (beyond !== undefined) {
      throw invalidField(field, `${name} has a tool of ${beyond}`);
    }
    const runner = findRunner(deps.runners, client, settings);
    if (subagent.handoff && runner !== undefined) {
      throw invalidField(field, `${name} has a runner, which takes over no conversation: unset handoff`);
    }
    const model = runner?.name ?? (settings.model || parent.model || deps.defaultModel);
    const tools = withApprovals(settings.tools, parent.tools);
    return {
      agent: create(AgentSchema, { ...settings, name: settings.name || name, ...(tools && { tools }) }),
      driver: runner?.driver ?? "llm-loop",
      model,
    };
  };
}

const field = "agent.tools.agents";
