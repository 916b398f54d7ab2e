// Builds a request of the Messages format. Keeps the order of messages, calls and tools. Arguments, and blocks of the service itself,
// are sent as they are written.

import { RawJson } from "../../../platform/base/json/exact.ts";
import type { ModelMessage, ModelRequest, ModelToolDefinition, ResponseFormat } from "../model.ts";
import { asRecord } from "../wire/frame.ts";
import { adaptTool } from "../wire/tool.ts";
import { openTurnOf } from "./open-turn.ts";
import { adaptOutputSchema } from "./output-schema.ts";
import { limitCalls, samplingFields, settingFields } from "./settings.ts";
import { type Abilities, abilitiesOf, type Thinking, thinkingOf } from "./thinking.ts";
import { cacheMark, type Turn, wireMessages } from "./turns.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the body for a streamed response. `turns` are the messages of the request. The options of the caller stay where the request
 * itself sets nothing.
 */
export function messagesBody(model: string, request: ModelRequest, turns: readonly Turn[]): object {
  const { system, tools, providerTools = [], settings = {}, reasoningEffort, providerOptions = {} } = request;
  const allTools = [...tools.map(wireTool), ...providerTools.map((tool) => new RawJson(limitCalls(tool, settings)))];
  const { betas: _header, ...options } = providerOptions;
  const abilities = abilitiesOf(model);
  const asked = reasoningEffort && thinkingOf(reasoningEffort, abilities);
  const thinking = asRecord(asked?.thinking ?? options.thinking);
  const isThinking = thinking.type !== undefined && thinking.type !== "disabled";
  return {
    ...options,
    model,
    max_tokens: maxTokensOf(request, thinking, abilities),
    ...samplingFields({ ...abilities, model, isThinking }, request),
    ...(asked !== undefined && { thinking }),
    ...outputConfig(asRecord(options.output_config), asked, request.responseFormat),
    ...settingFields(request),
    ...containerOf(options.container, openTurnOf(turns).container),
    ...(system.trim() !== "" && { system: [{ type: "text", text: system, ...cacheMark }] }),
    messages: wireMessages(turns),
    ...(allTools.length > 0 && { tools: allTools }),
    stream: true,
  };
}

/** Returns the header of the beta features that a request needs, or undefined. `betas` of the options is its list, as in Anthropic's SDKs. */
export function betaHeader({ messages, providerOptions = {} }: ModelRequest): string | undefined {
  const { betas } = providerOptions;
  const named = Array.isArray(betas) ? betas.filter((name) => typeof name === "string") : [];
  const all = new Set([...(messages.some(hasFile) ? ["pdfs-2024-09-25"] : []), ...named]);
  return all.size === 0 ? undefined : [...all].join(",");
}

function hasFile(message: ModelMessage): boolean {
  return message.role !== "assistant" && message.parts?.some(({ type }) => type === "file") === true;
}

/** The thoughts count as output. */
function maxTokensOf(
  { maxTokens }: ModelRequest,
  { type, budget_tokens: budget }: Fields,
  { isMaxKnown, outputTokensMax }: Abilities,
): number {
  const tokens = maxTokens + (type === "enabled" && typeof budget === "number" ? budget : 0);
  return isMaxKnown ? Math.min(tokens, outputTokensMax) : tokens;
}

function outputConfig(given: Fields, asked: Thinking | undefined, format: ResponseFormat | undefined): object {
  const config = {
    ...given,
    ...(asked?.effort !== undefined && { effort: asked.effort }),
    ...(isEnforceable(format) && { format: { type: "json_schema", schema: adaptOutputSchema(format.schema) } }),
  };
  return Object.keys(config).length === 0 ? {} : { output_config: config };
}

// The service enforces every schema and closes all of its objects, so a schema with open objects could not be answered.
function isEnforceable(format: ResponseFormat | undefined): format is Extract<ResponseFormat, { type: "json-schema" }> {
  return format?.type === "json-schema" && format.strict;
}

/** The caller may name another container, or its content. */
function containerOf(given: unknown, known: string | undefined): object {
  if (known === undefined || typeof given === "string") {
    return {};
  }
  return { container: given === undefined ? known : { id: known, ...asRecord(given) } };
}

function wireTool(tool: ModelToolDefinition): object {
  const { name, description, parameters } = adaptTool(tool);
  return { name, description, input_schema: parameters };
}
