// `runnel mcp`: MCP over standard input and output, and the tools of other servers.

import type { Command } from "commander";
import { addBridge } from "./bridge.ts";
import { addServers } from "./servers.ts";
import { addServerTest } from "./test-server.ts";

/** Defines `mcp`. */
export function defineMcp(mcp: Command): void {
  addBridge(mcp);
  addServers(mcp);
  addServerTest(mcp);
}
