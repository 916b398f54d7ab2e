// Leaves the secrets of an agent out of what callers read.

import type { Agent } from "#gen/runnel/v1/session_pb.js";

/** Returns the agent without the values of the headers of its MCP servers, and of those of the agents that it calls. */
export function hideSecrets(agent: Agent): Agent {
  const { tools } = agent;
  if (tools === undefined || (tools.mcp.length === 0 && tools.agents.length === 0)) {
    return agent;
  }
  const agents = tools.agents.map((each) => ({ ...each, ...(each.agent && { agent: hideSecrets(each.agent) }) }));
  const mcp = tools.mcp.map((server) => ({
    ...server,
    headers: server.headers.map((header) => ({ ...header, value: "" })),
  }));
  return { ...agent, tools: { ...tools, mcp, agents } };
}
