// The MCP servers of a run and their tools, frozen at its start as the grant is. The grant is read at every call of a runner; the servers
// are kept apart, because only the calls of their tools need them.

import { fromJson, toJson } from "@bufbuild/protobuf";
import { type McpServer, McpServerSchema } from "#gen/runnel/v1/session_pb.js";
import type { KeptTool } from "../../../agent/tools/mcp/catalogue.ts";

/** The servers, and the tools that each had at the start of the run. */
export interface KeptServers {
  readonly servers: readonly McpServer[];
  readonly tools: readonly KeptTool[];
}

/** Encodes the servers of a run. */
export function keptServersToBytes({ servers, tools }: KeptServers): Uint8Array {
  return Buffer.from(JSON.stringify({ servers: servers.map((server) => toJson(McpServerSchema, server)), tools }));
}

/** Decodes the servers of a run. */
export function keptServersFromBytes(bytes: Uint8Array): KeptServers {
  const { servers, tools } = JSON.parse(Buffer.from(bytes).toString());
  return { servers: servers.map((server: never) => fromJson(McpServerSchema, server)), tools };
}
