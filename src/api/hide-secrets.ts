// Leaves the secrets of an agent out of what callers read.

import type { Agent } from "#gen/runnel/v1/session_pb.js";

/** Returns the agent without the values of the headers of its MCP servers. */
export function hideSecrets(agent: Agent): Agent {
  const { tools } = agent;
  if (tools === undefined || tools.mcp.length === 0) {
    return agent;
  }
  const mcp = tools.mcp.map((server) => ({
    ...server,
    headers: server.headers.map((header) => ({ ...header, value: "" })),
  }));
  return { ...agent, tools: { ...tools, mcp } };
}
