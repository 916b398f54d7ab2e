// The MCP servers that agents may have. What speaks the protocol is loaded with the first run that has a server: the official client
// takes 180 ms of CPU and 30 MB.

import type { McpServer } from "#gen/runnel/v1/session_pb.js";
import { suggest } from "../../../platform/base/nearest.ts";
import type { McpServerSetting } from "../../../platform/config/mcp-servers.ts";
import { AccessTokens } from "./access-tokens.ts";
import { failed, findAddress, findHeaderProblem, settingsOf } from "./address.ts";
import type { McpOptions, McpRun, McpTools } from "./run-servers.ts";
import { ToolLists } from "./tool-lists.ts";

/** The servers of a service. */
export interface McpServers {
  /** Returns the servers of the settings that a client's agents may name. */
  known(client: string): readonly McpServerSetting[];
  /** Checks the servers of an agent. Throws Fault INVALID_ARGUMENT. */
  check(servers: readonly McpServer[], client: string): void;
  /** Returns the tools of an agent's servers. Throws a Fault when a server gives no list. */
  open(servers: readonly McpServer[], run: McpRun): Promise<McpTools>;
}

/** Creates them. */
export function createMcpServers(options: McpOptions): McpServers {
  const tokens = new AccessTokens(options);
  const lists = new ToolLists(options.clock);
  return {
    known: (client) => settingsOf(client, options.settings),
    check: (servers, client) => check(servers, client, options),
    open: async (servers, run) => {
      check(servers, run.client, options);
      const { openServers } = await import("./run-servers.ts");
      return await openServers(servers, run, { ...options, tokens, lists });
    },
  };
}

function check(servers: readonly McpServer[], client: string, { egress, settings }: McpOptions): void {
  const names = new Set<string>();
  for (const server of servers) {
    const problem = names.has(server.name) ? "the agent has another server of this name" : findProblem(server);
    names.add(server.name);
    if (problem !== undefined) {
      throw failed(server.name, problem);
    }
  }

  function findProblem(server: McpServer): string | undefined {
    if (server.url !== "") {
      return egress.findProblem(server.url, "mcp server") ?? findHeaderProblem(server);
    }
    if (findAddress(server, client, settings) !== undefined) {
      return undefined;
    }
    const known = settingsOf(client, settings).map(({ name }) => name);
    const which =
      known.length === 0 ? " (the settings have no server for you)" : `, or name one of ${known.join(", ")}`;
    return `there is no such server in the settings: give a url${which}${suggest(server.name, known)}`;
  }
}
