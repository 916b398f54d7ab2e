// Reads the MCP servers of a request: `mcp_servers`, and the toolsets among its tools that say which of a server's tools the agent has.

import { addressOf, bearer, type ServerFields, serverNameProblem, serverNames } from "../in-process/mcp-servers.ts";
import { invalid } from "./errors.ts";
import type { Fields } from "./fields.ts";

/** The type of a tool that is a set of a server's tools. */
export const toolsetType = "mcp_toolset";

/** Returns the servers of a request. Throws an ApiError that names a field. */
export function readServers(request: Fields): ServerFields[] {
  const servers = request.findObjects("mcp_servers") ?? [];
  const tools = request.findObjects("tools") ?? [];
  const toolsets = new Map(
    tools
      .filter((tool) => tool.findText("type") === toolsetType)
      .map((tool) => [tool.requireText("mcp_server_name"), tool]),
  );
  const names = new Set(servers.map((server) => server.requireText("name")));
  for (const [name, toolset] of toolsets) {
    if (!names.has(name)) {
      throw invalid(toolset.at("mcp_server_name"), "must be the name of one of mcp_servers");
    }
  }
  return servers.flatMap((server) => {
    const name = server.requireText("name");
    if (!serverNames.test(name)) {
      throw invalid(server.at("name"), serverNameProblem);
    }
    const toolset = toolsets.get(name);
    const allowedTools = toolset === undefined ? readConfiguration(server) : readToolset(toolset);
    const token = server.findText("authorization_token");
    return allowedTools === undefined
      ? []
      : [{ name, ...addressOf(server.requireText("url"), bearer(token)), allowedTools }];
  });
}

/** Returns the allowed tools; none for all of them, undefined for a server that is switched off. */
function readConfiguration(server: Fields): string[] | undefined {
  const configuration = server.findObject("tool_configuration");
  if (configuration?.findFlag("enabled") === false) {
    return undefined;
  }
  return (configuration?.findItems("allowed_tools") ?? []).map((name, index) => {
    if (typeof name !== "string") {
      throw invalid(configuration?.at(`allowed_tools[${index}]`) ?? "", "must be a string");
    }
    return name;
  });
}

function readToolset(toolset: Fields): string[] | undefined {
  const configs = toolset.findObject("configs");
  const isOn = toolset.findObject("default_config")?.findFlag("enabled") ?? true;
  const named = (configs?.unread ?? []).map((name) => ({
    name,
    enabled: configs?.findObject(name)?.findFlag("enabled") ?? isOn,
  }));
  if (!isOn) {
    const enabled = named.filter((tool) => tool.enabled).map(({ name }) => name);
    return enabled.length === 0 ? undefined : enabled;
  }
  const off = named.find((tool) => !tool.enabled);
  if (off !== undefined) {
    const fix = "cannot be switched off alone: set default_config.enabled to false, and enable the others by name";
    throw invalid(`${toolset.at("configs")}.${off.name}.enabled`, fix);
  }
  return [];
}
