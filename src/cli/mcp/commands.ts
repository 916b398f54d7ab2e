// `runnel mcp`: MCP over standard input and output.

import type { Command } from "commander";
import { addBridge } from "./bridge.ts";

/** Defines `mcp`. */
export function defineMcp(mcp: Command): void {
  addBridge(mcp);
}
