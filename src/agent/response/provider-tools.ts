// Reads the tools of an agent that a provider runs itself.

import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { invalidField } from "../../platform/base/fault.ts";
import { parseBoundedObject, parseObject } from "../../platform/base/json/parse-object.ts";
import type { Model } from "../models/model.ts";
import { providerNames } from "../models/providers.ts";

/**
 * Returns the tools of an agent that the provider of its model runs, as its API writes them. Calls `omit` with the name of
 * each one that the model does without; a function of this name takes its place.
 * @throws Fault INVALID_ARGUMENT when one of the agent's tools is no JSON object, or has an unknown provider.
 */
export function providerToolsOf(
  { tools }: Agent,
  { provider, lacksProviderTools = false }: Pick<Model, "provider" | "lacksProviderTools">,
  omit: (tool: string) => void = () => undefined,
): readonly string[] {
  return (tools?.provider ?? []).flatMap((tool, index) => {
    const at = `agent.tools.provider[${index}]`;
    if (!providerNames.some((name) => name === tool.provider)) {
      throw invalidField(`${at}.provider`, `must be one of ${providerNames.join(", ")}`);
    }
    if (parseBoundedObject(tool.tool) === undefined) {
      throw invalidField(
        `${at}.tool`,
        "must be a JSON object of at most 100 levels, as the provider's API writes the tool",
      );
    }
    if (tool.provider === provider && !lacksProviderTools) {
      return [tool.tool];
    }
    const name = ownNameOf(tool.tool);
    if (name === undefined || !tools?.functions.some((each) => each.name === name)) {
      omit(nameOfProviderTool(tool.tool).slice(0, 64));
    }
    return [];
  });
}

/** Returns the name under which a model calls such a tool; undefined when its API has none, as OpenAI's. */
export function ownNameOf(tool: string): unknown {
  return parseObject(tool)?.name;
}

/** Returns the name of such a tool; its type, or its only field, where it has no name. */
export function nameOfProviderTool(tool: string): string {
  const fields: Readonly<Record<string, unknown>> = { ...parseObject(tool) };
  return String(fields.name ?? fields.type ?? Object.keys(fields)[0]);
}
