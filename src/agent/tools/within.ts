// Keeps the tools of an agent within those of the agent that calls it. So an agent gets no more rights by asking another.

import { create } from "@bufbuild/protobuf";
import { type AgentTools, AgentToolsSchema, type McpServer } from "#gen/runnel/v1/session_pb.js";
import { scopesOf } from "../../engine/memory/find.ts";
import { memoryToolNames } from "./memory.ts";

/** Returns the first tool that the parent does not have, with what to do; undefined when the parent has all. */
export function findBeyond(tools: AgentTools | undefined, parent: AgentTools | undefined): string | undefined {
  const beyond = (kind: string, name: string) => `${kind} ${name}: its parent does not have it; add it to the parent's`;
  const builtin = tools?.builtin.find((name) => parent?.builtin.includes(name) !== true);
  if (builtin !== undefined) {
    return beyond("builtin", builtin);
  }
  const remote = tools?.remote.find(({ name }) => parent?.remote.some((each) => each.name === name) !== true);
  if (remote !== undefined) {
    return beyond("remote", remote.name);
  }
  const provided = tools?.provider.find(
    ({ provider, tool }) => parent?.provider.some((each) => each.provider === provider && each.tool === tool) !== true,
  );
  if (provided !== undefined) {
    return beyond("provider", provided.tool);
  }
  const server = tools?.mcp.find((each) => parent?.mcp.some((one) => isWithin(each, one)) !== true);
  if (server !== undefined) {
    return beyond("mcp", server.name);
  }
  const other = tools?.agents.find(({ handoff }) => handoff);
  if (other !== undefined) {
    return `agents ${other.name}: a child run answers its caller, and hands nothing over; unset handoff`;
  }
  const skill = tools?.skills.find((name) => parent?.skills.includes(name) !== true);
  if (skill !== undefined) {
    return beyond("skills", skill);
  }
  const usesMemory = tools?.builtin.some((name) => memoryToolNames.some((each) => each === name)) === true;
  const scope = usesMemory ? scopesOf(tools).find((each) => !scopesOf(parent).includes(each)) : undefined;
  if (scope !== undefined) {
    return beyond("memory_scopes", scope);
  }
  return tools?.functions[0] !== undefined || tools?.unknownCallsToCaller === true
    ? "functions: no caller could answer them; leave them unset"
    : undefined;
}

function isWithin(server: McpServer, parent: McpServer): boolean {
  const { allowedTools: allowed } = parent;
  return (
    server.name === parent.name &&
    server.url === parent.url &&
    (allowed.length === 0 ||
      (server.allowedTools.length > 0 && server.allowedTools.every((name) => allowed.includes(name))))
  );
}

/** Returns the tools with the approvals that their parent asks for. */
export function withApprovals(tools: AgentTools | undefined, parent: AgentTools | undefined): AgentTools | undefined {
  if (tools === undefined || parent === undefined) {
    return tools;
  }
  const names = new Set([...tools.builtin, ...tools.remote.map(({ name }) => name)]);
  const approve = [...tools.approve, ...parent.approve.filter((name) => names.has(name))];
  const mcp = tools.mcp.map((server) => {
    const asked = parent.mcp.find(({ name }) => name === server.name)?.approve ?? [];
    return { ...server, approve: [...new Set([...server.approve, ...asked])] };
  });
  return create(AgentToolsSchema, { ...tools, approve: [...new Set(approve)], mcp });
}
