// Reads the tools of a request: functions, custom and local tools that the caller runs, alone or in namespaces, tools of this service as an
// MCP server named `runnel`, MCP servers that this service connects to, and tools that OpenAI runs itself.

import { isObject, parseObject } from "../../platform/base/json/parse-object.ts";
import { noTools, type RequestTools } from "../in-process/no-tools.ts";
import { textParameters } from "./caller-tools.ts";
import { unsupported } from "./errors.ts";
import { Fields } from "./fields.ts";
import { findLocalTool, type LocalTool } from "./local-tools.ts";
import { readServer } from "./mcp-servers.ts";
import { modelNameOf } from "./namespaces.ts";

/** The label under which callers name the tools of this service. */
export const serverLabel = "runnel";

/**
 * Returns the tools of a request; undefined when it has none. Chat Completions writes a function into a field of its own. A tool that
 * OpenAI runs is for models of OpenAI alone: others do without, and the service logs that.
 * `asks` is false for an API without requests for approval. `more` are the tools of items: they replace those of their names.
 * @throws ApiError that names a field of a tool.
 */
export function readTools(
  request: Fields,
  { asks = true, more = [] }: { readonly asks?: boolean; readonly more?: readonly Fields[] } = {},
): RequestTools | undefined {
  const items = request.findObjects("tools");
  if (items === undefined && more.length === 0) {
    return undefined;
  }
  const tools: Tools = { builtin: [], functions: [], provider: [], mcp: [] };
  for (const item of items ?? []) {
    addTool(tools, item);
    if (!asks && tools.mcp.some(({ approve = [] }) => approve.length > 0)) {
      throw unsupported(item.at("require_approval"), "use never: this API has no requests for approval");
    }
  }
  for (const item of more) {
    addTool(tools, item);
  }
  const named = more.length === 0 ? tools : { ...tools, functions: lastOfEach(tools.functions) };
  const choice = request.find("tool_choice");
  const allowed = isObject(choice) ? findAllowed(new Fields(choice, "tool_choice")) : undefined;
  return { ...noTools, ...(allowed === undefined ? named : keepAllowed(named, allowed)) };
}

function lastOfEach(functions: Tools["functions"]): Tools["functions"] {
  return [...new Map(functions.map((each) => [each.name, each])).values()];
}

/** Returns the part of a tool choice that lists the allowed tools; undefined for any other choice. */
export function findAllowed(choice: Fields): Fields | undefined {
  return choice.requireText("type") === "allowed_tools" ? (choice.findObject("allowed_tools") ?? choice) : undefined;
}

/** Of a server all tools are allowed, or those of its `allowed_tools`; of OpenAI's own tools, all of a type. */
function keepAllowed({ builtin, functions, provider, mcp }: Tools, allowed: Fields): Tools {
  const listed = allowed.findObjects("tools") ?? [];
  const names = new Set(
    listed.map((tool) => {
      const own = tool.findObject("function") ?? tool.findObject("custom") ?? tool;
      return modelNameOf(own.findText("name") ?? "", own.findText("namespace"));
    }),
  );
  const types = new Set(listed.map((tool) => tool.findText("type")));
  const servers = new Set(listed.map((tool) => tool.findText("server_label")));
  return {
    builtin: servers.has(serverLabel) ? builtin : [],
    mcp: mcp.filter(({ name }) => servers.has(name)),
    functions: functions.filter(({ name = "" }) => names.has(name) || types.has(name)),
    provider: provider.filter(({ tool = "" }) => types.has(String(parseObject(tool)?.type))),
  };
}

interface Tools {
  readonly builtin: string[];
  readonly functions: RequestTools["functions"][number][];
  readonly provider: RequestTools["provider"][number][];
  readonly mcp: RequestTools["mcp"][number][];
}

function addTool(tools: Tools, tool: Fields, namespace?: string): void {
  const type = tool.requireText("type");
  switch (type) {
    case "function":
      tools.functions.push(readFunction(tool.findObject("function") ?? tool, namespace));
      break;
    case "custom":
      tools.functions.push(readCustom(tool.findObject("custom") ?? tool, namespace));
      break;
    case "namespace": {
      const name = tool.requireText("name");
      for (const each of tool.findObjects("tools") ?? []) {
        addTool(tools, each, name);
      }
      tool.ignore("description");
      break;
    }
    case "mcp":
      if (tool.requireText("server_label") === serverLabel) {
        tools.builtin.push(...readServerTools(tool));
        break;
      }
      if (tool.find("server_url") !== undefined) {
        tools.mcp.push(readServer(tool));
        break;
      }
      tools.provider.push(ofOpenAi(tool));
      return;
    default: {
      const local = isObject(tool.value) ? findLocalTool(tool.value) : undefined;
      if (local === undefined) {
        tools.provider.push(ofOpenAi(tool));
        return;
      }
      tools.functions.push(readLocal(tool, type, local));
    }
  }
  tool.assertAllRead();
}

/** In the words of OpenAI's API, so no other provider gets it. */
function ofOpenAi({ value }: Fields): RequestTools["provider"][number] {
  return { provider: "openai", tool: JSON.stringify(value) };
}

function readFunction(tool: Fields, namespace: string | undefined) {
  const parameters = tool.findObject("parameters");
  tool.ignore("type", "strict", ...hints);
  const described = {
    name: modelNameOf(tool.requireText("name"), namespace),
    description: tool.findText("description") ?? "",
    parameters: parameters === undefined ? "" : JSON.stringify(tool.find("parameters")),
  };
  tool.assertAllRead();
  return described;
}

function readLocal(tool: Fields, name: string, { description, parameters }: LocalTool) {
  const own = tool.findObject("parameters")?.value;
  tool.ignore("execution", "environment", ...hints);
  return {
    name,
    description: tool.findText("description") ?? description,
    parameters: JSON.stringify(own ?? parameters),
  };
}

/** Fields of functions that save tokens or time where OpenAI knows them. */
const hints = ["allowed_callers", "async", "defer_loading", "output_schema", "cache_control", "eager_input_streaming"];

/** Reads a tool that takes one text. Its grammar stands in the description: models of other providers cannot be held to it. */
function readCustom(tool: Fields, namespace: string | undefined) {
  const description = tool.findText("description") ?? "";
  const format = tool.findObject("format");
  const grammar = format?.findObject("grammar") ?? format;
  const definition = grammar?.findText("definition");
  const rule = `The input must follow this ${grammar?.findText("syntax") ?? ""} grammar:\n${definition}`;
  tool.ignore("type", ...hints);
  const described = {
    name: modelNameOf(tool.requireText("name"), namespace),
    description: definition === undefined ? description : `${description}\n\n${rule}`.trim(),
    parameters: JSON.stringify(textParameters),
  };
  tool.assertAllRead();
  return described;
}

function readServerTools(tool: Fields): string[] {
  const approval = tool.find("require_approval");
  if (approval !== undefined && approval !== "never") {
    throw unsupported(tool.at("require_approval"), "use never");
  }
  tool.ignore("type", "server_url", "server_description");
  const names = tool.findItems("allowed_tools") ?? [];
  return names.map((name, index) => {
    if (typeof name !== "string") {
      throw unsupported(tool.at(`allowed_tools[${index}]`), "name the tools as strings");
    }
    return name;
  });
}
