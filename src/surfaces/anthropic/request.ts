// Reads a request for a message as a run: its conversation, and the settings of an agent.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { ReasoningEffort } from "#gen/runnel/v1/session_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { headerOf, type Visit } from "../in-process/visit.ts";
import { readConversation } from "./conversation.ts";
import { invalid } from "./errors.ts";
import { type Fields, readFields } from "./fields.ts";
import { isClaude } from "./state.ts";
import { type AgentFields, readChoice, readLongNames, readTools } from "./tools.ts";

/** A request, read and checked. */
export interface Asked {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly agent: AgentFields;
  /** The caller's names of tools that models know by shorter ones. */
  readonly longNames: ReadonlyMap<string, string>;
  readonly isStream: boolean;
  /** The thread that the request begins or continues; undefined for a request that has the whole conversation. */
  readonly thread: { readonly previousMessageId: string | undefined } | undefined;
  /** How the answer shows thoughts: not at all, without their text, or with it. */
  readonly thoughts: "none" | "omitted" | "shown";
}

/** Reads a request. Throws an ApiError that names the first field that is wrong. */
export function readRequest(visit: Visit): Asked {
  const request = readFields(visit);
  const asked = readPrompt(request, visit);
  const maxTokens = request.findCount("max_tokens");
  if (maxTokens === undefined) {
    throw invalid("max_tokens", "is missing");
  }
  const thinking = request.findObject("thinking");
  return {
    ...asked,
    agent: {
      ...asked.agent,
      ...readSampling(request),
      maxTokens: isClaude(asked.model) ? withoutBudget(maxTokens, thinking) : Math.min(maxTokens, outputTokensMax),
    },
    longNames: readLongNames(request),
    isStream: request.findFlag("stream") ?? false,
    thread: readThread(request),
    thoughts: readThoughts(thinking),
  };
}

/** Programs ask for more tokens than most models of other makers can write, and those refuse such a request. */
const outputTokensMax = 16_384;

/** Reads what counts as input: the conversation, the tools, the form of the answer, and how the model thinks. */
export function readPrompt(request: Fields, visit: Visit): Pick<Asked, "model" | "messages" | "agent"> {
  const model = request.requireText("model");
  const messages = readConversation(request);
  const tools = readTools(request);
  return {
    model,
    messages,
    agent: {
      ...{ model, ...(tools && { tools }) },
      ...readChoice(request),
      ...readFormat(request),
      ...(isClaude(model) ? nativeSettings(request, visit) : plainSettings(request)),
    },
  };
}

/** A budget is part of the maximum here, and comes on top of it in the contract. */
function withoutBudget(maxTokens: number, thinking: Fields | undefined): number {
  const budget = thinking?.findText("type") === "enabled" ? (thinking.findCount("budget_tokens") ?? 0) : 0;
  return Math.max(1, maxTokens - budget);
}

function readThread(request: Fields): Asked["thread"] {
  const thread = request.findObject("thread");
  switch (thread?.requireText("type")) {
    case undefined:
      return undefined;
    case "create":
      return { previousMessageId: undefined };
    case "continue":
      return { previousMessageId: thread?.requireText("previous_message_id") };
    default:
      throw invalid("thread.type", "must be create or continue");
  }
}

function readThoughts(thinking: Fields | undefined): Asked["thoughts"] {
  const type = thinking?.requireText("type") ?? "disabled";
  if (!thinkingTypes.has(type)) {
    throw invalid("thinking.type", `must be one of ${[...thinkingTypes].join(", ")}`);
  }
  return type === "disabled" ? "none" : thinking?.findText("display") === "omitted" ? "omitted" : "shown";
}

const thinkingTypes: ReadonlySet<string> = new Set(["enabled", "disabled", "adaptive"]);

function readSampling(request: Fields): AgentFields {
  const [temperature, topP] = [request.findNumber("temperature"), request.findNumber("top_p")];
  const topK = request.findCount("top_k", 0) ?? 0;
  const tier = request.findText("service_tier") ?? "auto";
  return {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    // 0 is all tokens.
    ...(topK > 0 && { topK }),
    stop: readStops(request),
    ...(tier !== "auto" && { serviceTier: tier }),
  };
}

function readStops(request: Fields): string[] {
  return (request.findItems("stop_sequences") ?? []).map((text, index) => {
    if (typeof text !== "string") {
      throw invalid(request.at(`stop_sequences[${index}]`), "must be a string");
    }
    return text.toWellFormed();
  });
}

/** Reads the form of the answer, which older programs write into a field of its own. */
function readFormat(request: Fields): AgentFields {
  const format = request.findObject("output_config")?.findObject("format") ?? request.findObject("output_format");
  if (format === undefined) {
    return {};
  }
  if (format.requireText("type") !== "json_schema") {
    throw invalid(format.at("type"), "must be json_schema");
  }
  const { value } = format.requireObject("schema");
  return {
    responseFormat: {
      schema: JSON.stringify(value),
      strict: isClaude(request.requireText("model")) || isClosed(value),
    },
  };
}

/** Returns whether a schema is one that all providers can enforce: its objects are closed and require all their members. */
function isClosed(schema: unknown): boolean {
  if (Array.isArray(schema)) {
    return schema.every(isClosed);
  }
  if (!isObject(schema)) {
    return true;
  }
  const { properties, required, additionalProperties } = schema;
  const names = isObject(properties) ? Object.keys(properties) : undefined;
  const isWhole =
    names === undefined ||
    (additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name)));
  return isWhole && Object.values(schema).every(isClosed);
}

/** Fields that the contract has, or that change nothing here. All others are for Anthropic, whose API grows. */
const ownFields: ReadonlySet<string> = new Set([
  ...["model", "messages", "system", "tools", "mcp_servers", "tool_choice", "max_tokens", "stream", "stop_sequences"],
  ...["temperature", "top_p", "top_k", "service_tier", "cache_control", "output_config", "output_format", "thread"],
]);

/** Settings of a model of Anthropic, which gets them as they are. */
function nativeSettings(request: Fields, { request: { headers } }: Visit): AgentFields {
  const given = request.value as Readonly<Record<string, unknown>>;
  const others = Object.entries(given).filter(([name, value]) => !ownFields.has(name) && value !== null);
  const { format: _, ...config } = (request.findObject("output_config")?.value ?? {}) as { readonly format?: unknown };
  const betas = [headers["anthropic-beta"] ?? []].flat().flatMap((each) => each.split(","));
  const options = {
    ...Object.fromEntries(others),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(betas.length > 0 && { betas: betas.map((each) => each.trim()).filter((each) => each !== "") }),
  };
  return Object.keys(options).length === 0 ? {} : { providerOptions: JSON.stringify({ anthropic: options }) };
}

/** Settings of a model of another maker: how much it thinks. */
function plainSettings(request: Fields): AgentFields {
  const thinking = request.findObject("thinking");
  const effort = request.findObject("output_config")?.findText("effort");
  const budget = thinking?.findText("type") === "enabled" ? thinking.findCount("budget_tokens") : undefined;
  const reasoningEffort = effort === undefined ? effortOf(budget) : efforts[effort];
  return reasoningEffort === undefined ? {} : { reasoningEffort };
}

/** The usual effort is not sent: programs name it always, and models that do not think refuse it. */
const efforts: Readonly<Record<string, ReasoningEffort>> = {
  low: ReasoningEffort.LOW,
  high: ReasoningEffort.HIGH,
  xhigh: ReasoningEffort.HIGH,
  max: ReasoningEffort.HIGH,
};

/** The levels at which programs for Claude set their budgets. */
function effortOf(budgetTokens: number | undefined): ReasoningEffort | undefined {
  if (budgetTokens === undefined || (budgetTokens >= 4_096 && budgetTokens < 16_384)) {
    return undefined;
  }
  return budgetTokens < 4_096 ? ReasoningEffort.LOW : ReasoningEffort.HIGH;
}

/** Returns the name of the durable session that a request belongs to; undefined for none. */
export function sessionNameOf({ request }: Visit): string | undefined {
  return headerOf(request, "runnel-session") ?? headerOf(request, "x-claude-code-session-id");
}
