// Reads the tools of a request: those that the caller runs, those of MCP servers, and those in Anthropic's own words, which only its
// models get. Of these, models of other makers get the ones that the caller runs as functions.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AgentSchema, ToolChoice_Mode } from "#gen/runnel/v1/session_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { noTools, type RequestTools } from "../in-process/no-tools.ts";
import { toolNameOf } from "../in-process/tool-names.ts";
import { findClientTool } from "./client-tools.ts";
import { invalid } from "./errors.ts";
import type { Fields } from "./fields.ts";
import { readServers, toolsetType } from "./mcp-servers.ts";

/** Fields of an agent. */
export type AgentFields = Extract<MessageInitShape<typeof AgentSchema>, { readonly $typeName?: never }>;

/** Returns the tools of a request; undefined when it has none. */
export function readTools(request: Fields): RequestTools | undefined {
  const tools = request.findObjects("tools");
  const mcp = readServers(request);
  if (tools === undefined && mcp.length === 0) {
    return undefined;
  }
  const { functions = [], provider = [] } = Object.groupBy(tools ?? [], (tool) => {
    const type = tool.findText("type") ?? "custom";
    return type === "custom" ? "functions" : type === toolsetType ? "servers" : "provider";
  });
  return {
    ...noTools,
    mcp,
    functions: [...functions.map(readFunction), ...provider.flatMap(functionsInPlaceOf)],
    provider: provider.map((tool) => ({ provider: "anthropic", tool: JSON.stringify(withoutCacheMark(tool.value)) })),
  };
}

function readFunction(tool: Fields) {
  return {
    name: toolNameOf(tool.requireText("name")),
    description: tool.findText("description") ?? "",
    parameters: JSON.stringify(tool.requireObject("input_schema").value),
  };
}

/** A tool that the caller runs is a function for models of other makers. */
function functionsInPlaceOf(tool: Fields) {
  const known = findClientTool(tool.requireText("type"));
  return known === undefined
    ? []
    : [{ ...known, name: tool.requireText("name"), parameters: JSON.stringify(known.parameters) }];
}

/** Returns the names of tools that are too long for some providers, by the names under which models know the tools. */
export function readLongNames(request: Fields): ReadonlyMap<string, string> {
  const names = (request.findObjects("tools") ?? []).map((tool) => tool.findText("name") ?? "");
  return new Map(names.map((name) => [toolNameOf(name), name] as const).filter(([known, name]) => known !== name));
}

/** Returns an object without its mark for the cache: the service marks by itself, and a request has a maximum of marks. */
export function withoutCacheMark(value: unknown): Readonly<Record<string, unknown>> {
  const { cache_control: _, ...rest } = isObject(value) ? value : {};
  return rest;
}

/** Reads which tools the model calls, and whether it calls several at once. */
export function readChoice(request: Fields): AgentFields {
  const choice = request.findObject("tool_choice");
  if (choice === undefined) {
    return {};
  }
  const type = choice.requireText("type");
  const mode = modes[type];
  if (mode === undefined && type !== "tool") {
    throw invalid(choice.at("type"), "must be auto, any, tool or none");
  }
  return {
    toolChoice: mode === undefined ? { name: toolNameOf(choice.requireText("name")) } : { mode },
    ...(choice.findFlag("disable_parallel_tool_use") === true && { parallelToolCalls: false }),
  };
}

const modes: Readonly<Record<string, ToolChoice_Mode>> = {
  auto: ToolChoice_Mode.AUTO,
  any: ToolChoice_Mode.REQUIRED,
  none: ToolChoice_Mode.NONE,
};
