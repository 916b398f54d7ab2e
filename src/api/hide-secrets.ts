// Leaves the secrets of an agent out of what callers read.

import type { Agent, McpServer, ProviderTool, Subagent } from "#gen/runnel/v1/session_pb.js";
import { parseExact, printJson } from "../platform/base/json/exact.ts";
import { isObject } from "../platform/base/json/parse-object.ts";

/** Returns the agent without the credentials of its MCP servers, and of those of the agents that it calls. */
export function hideSecrets(agent: Agent): Agent {
  const { tools } = agent;
  if (tools === undefined || tools.mcp.length + tools.provider.length + tools.agents.length === 0) {
    return agent;
  }
  return {
    ...agent,
    tools: {
      ...tools,
      mcp: tools.mcp.map(hideHeaders),
      provider: tools.provider.map(hideInTool),
      agents: tools.agents.map(hideInSubagent),
    },
  };
}

/** Returns the server without the values of its headers. */
export function hideHeaders(server: McpServer): McpServer {
  return { ...server, headers: server.headers.map((header) => ({ ...header, value: "" })) };
}

/** A server that the provider itself connects to has its credentials in the provider's words. */
function hideInTool(offered: ProviderTool): ProviderTool {
  const tool = parseExact(offered.tool);
  if (!isObject(tool) || !("authorization" in tool || "headers" in tool)) {
    return offered;
  }
  const { authorization: _, headers, ...shown } = tool;
  const names = isObject(headers) ? Object.keys(headers) : [];
  const emptied = names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, ""])) };
  return { ...offered, tool: printJson({ ...shown, ...emptied }) };
}

function hideInSubagent(subagent: Subagent): Subagent {
  return { ...subagent, ...(subagent.agent && { agent: hideSecrets(subagent.agent) }) };
}
