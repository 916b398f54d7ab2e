// MCP servers that requests name in the words of a provider's API. The service connects to them itself, for models of every provider,
// and shows their calls in the words of that API.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { type AgentTools, McpServer_Transport, type McpServerSchema } from "#gen/runnel/v1/session_pb.js";
import { serverToolNameOf } from "../../platform/base/mcp-names.ts";

/** The fields of a server. */
export type ServerFields = Extract<MessageInitShape<typeof McpServerSchema>, { readonly $typeName?: never }>;

/** The names that the contract takes for a server. */
export const serverNames = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/;

/** The problem of another name. */
export const serverNameProblem = "must be a letter, then at most 31 letters, digits, dashes and underscores";

/** Returns where a server is. The URL tells an old one, which speaks server-sent events: its path ends with `/sse`. */
export function addressOf(url: string, headers: Readonly<Record<string, string>>): ServerFields {
  const isOld = /\/sse\/?(?:\?|$)/.test(url);
  return {
    url,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    ...(isOld && { transport: McpServer_Transport.SSE }),
  };
}

/** Returns the header of a token. */
export function bearer(token: string | undefined): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** A tool of a server. */
export interface ServerTool {
  readonly server: string;
  readonly name: string;
  /** Whether its calls wait for a person. */
  readonly needsApproval: boolean;
}

/**
 * Returns the tool of a server that a model knows by a name; undefined for another tool. A name that providers do not take is shown as
 * the model knows it, unless the agent has it in a list.
 */
export function findServerTool(tools: Partial<AgentTools> | undefined, modelName: string): ServerTool | undefined {
  const { mcp = [], builtin = [], remote = [] } = tools ?? {};
  if (builtin.includes(modelName) || remote.some(({ name }) => name === modelName)) {
    return undefined;
  }
  const known = mcp.flatMap(({ name: server, prefix = `${server}_`, allowedTools, approve }) => {
    const isSame = (tool: string): boolean => serverToolNameOf(prefix, tool) === modelName;
    const named = [...allowedTools, ...approve].find(isSame);
    const isPrefixed = prefix !== "" && modelName.startsWith(prefix);
    const needsApproval = approve.some((tool) => tool === "*" || isSame(tool));
    const name = named ?? modelName.slice(prefix.length);
    return named !== undefined || isPrefixed ? [{ server, name, needsApproval, isNamed: named !== undefined }] : [];
  });
  // The longest name of a server is the closest one.
  const [best] = known.toSorted(
    (one, two) => Number(two.isNamed) - Number(one.isNamed) || two.server.length - one.server.length,
  );
  return best;
}
