// Reads where the MCP servers of an agent are.

import { type McpServer, McpServer_Transport } from "#gen/runnel/v1/session_pb.js";
import { Fault } from "../../../platform/base/fault.ts";
import type { HttpAddress, McpAddress, McpServerSetting } from "../../../platform/config/mcp-servers.ts";

/** Returns the address of a server that a client names by its URL, or of one of the settings; undefined for an unknown name. */
export function findAddress(
  server: McpServer,
  client: string,
  settings: readonly McpServerSetting[],
): McpAddress | undefined {
  return server.url === ""
    ? settingsOf(client, settings).find(({ name }) => name === server.name)?.address
    : read(server);
}

/** Returns the servers of the settings that a client's agents may name. */
export function settingsOf(client: string, settings: readonly McpServerSetting[]): readonly McpServerSetting[] {
  return settings.filter(({ clients }) => clients === undefined || clients.includes(client));
}

function read({ url, transport, headers }: McpServer): HttpAddress {
  return {
    kind: transport === McpServer_Transport.SSE ? "sse" : "http",
    url,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])),
  };
}

/** Headers that the service sets itself, or that say how a message is read. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...[
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
  ],
  ...["keep-alive", "last-event-id", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"],
]);

/** Returns why the headers of a server cannot be sent; undefined when they can. */
export function findHeaderProblem({ headers }: McpServer): string | undefined {
  const names = headers.map(({ name }) => name.toLowerCase());
  const own = names.find((name) => ownHeaders.has(name) || name.startsWith("mcp-"));
  if (own !== undefined) {
    return `the service sets the header ${own} itself`;
  }
  // An agent that a client has read has names alone: without this its runs would go on without their credentials.
  const empty = headers.find(({ value }) => value === "");
  return (
    empty && `the header ${empty.name} has no value: set it again, since no answer of the service has values of headers`
  );
}

const field = "agent.tools.mcp";

/** Returns the fault of a server of an agent. */
export function failed(server: string, problem: string, cause?: unknown): Fault {
  return new Fault("INVALID_ARGUMENT", `mcp server ${JSON.stringify(server)}: ${problem}`, {
    violations: [{ field, description: problem }],
    cause,
  });
}
