// The source of the tools of all runs.

import type { Commands } from "./bash/commands.ts";
import type { McpServers } from "./mcp/servers.ts";
import type { SelectTools } from "./select-tools.ts";

/** The tools and the commands of a service. */
export interface Toolbox {
  readonly select: SelectTools;
  /** Opens the MCP servers of runs. */
  readonly mcp: McpServers;
  /** Runs commands in the same jail and with the same limits as the tool bash. */
  readonly commands: Commands;
  /** The operator's directory of skills; empty without one. */
  readonly skillsDirectory: string;
  /** How commands run here, in a few words for people. */
  readonly bash: string;
}
