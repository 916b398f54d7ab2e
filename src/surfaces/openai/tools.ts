// Reads the tools of a request: functions that the caller runs, tools of this service as an MCP server named `runnel`, and with
// Responses tools that OpenAI runs itself.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";
import { printJson } from "../../platform/base/json/exact.ts";
import { unsupported } from "./errors.ts";
import { Fields } from "./fields.ts";

/** The label under which callers name the tools of this service. */
export const serverLabel = "runnel";

type AgentTools = Required<
  Pick<MessageInitShape<typeof AgentToolsSchema>, "builtin" | "functions" | "provider" | "unknownCallsToCaller">
>;

/** Of a request without tools. Callers of this API answer all calls, also those of a tool that the model has made up. */
export const noTools: AgentTools = { builtin: [], functions: [], provider: [], unknownCallsToCaller: true };

/**
 * Returns the tools of a request; undefined when it has none. Chat Completions writes a function into a field of its own.
 * @throws ApiError that names a tool of another type, or a field of a tool.
 */
export function readTools(request: Fields, { isChat }: { readonly isChat: boolean }): AgentTools | undefined {
  const items = request.findItems("tools");
  if (items === undefined) {
    return undefined;
  }
  const tools: {
    builtin: string[];
    functions: AgentTools["functions"][number][];
    provider: AgentTools["provider"][number][];
  } = { builtin: [], functions: [], provider: [] };
  for (const [index, item] of items.entries()) {
    const tool = new Fields(item, `tools[${index}]`);
    const type = tool.requireText("type");
    if (type === "function") {
      tools.functions.push(readFunction(isChat ? new Fields(tool.find("function"), tool.at("function")) : tool));
    } else if (type === "mcp") {
      tools.builtin.push(...readServerTools(tool));
    } else if (!isChat) {
      // In the words of OpenAI's API, so no other provider gets it.
      tools.provider.push({ provider: "openai", tool: printJson(item) });
      continue;
    } else {
      throw unsupported(tool.at("type"), `use function, or mcp with server_label ${serverLabel}, not ${type}`);
    }
    tool.assertAllRead();
  }
  return { ...noTools, ...tools };
}

function readFunction(tool: Fields) {
  const parameters = tool.findObject("parameters");
  tool.ignore("strict", "type");
  const described = {
    name: tool.requireText("name"),
    description: tool.findText("description") ?? "",
    parameters: parameters === undefined ? "" : printJson(tool.find("parameters")),
  };
  tool.assertAllRead();
  return described;
}

function readServerTools(tool: Fields): string[] {
  const label = tool.requireText("server_label");
  if (label !== serverLabel) {
    throw unsupported(tool.at("server_label"), `only ${serverLabel} is known: the tools of this service`);
  }
  const approval = tool.find("require_approval");
  if (approval !== undefined && approval !== "never") {
    throw unsupported(tool.at("require_approval"), "use never");
  }
  tool.ignore("server_url", "server_description");
  const names = tool.findItems("allowed_tools") ?? [];
  return names.map((name, index) => {
    if (typeof name !== "string") {
      throw unsupported(tool.at(`allowed_tools[${index}]`), "name the tools as strings");
    }
    return name;
  });
}
