// Settings of the agents' tools: `tools` and `mcp`.

import { Expected, type Key, makeKey } from "../key.ts";
import { choice, integer, text } from "../kinds.ts";
import { type McpServerSetting, readMcpServers } from "../mcp-servers.ts";

/** The settings of tools. */
export const toolKeys = {
  toolsJail: choice({
    path: "tools.jail",
    words: ["required", "off"],
    fallback: "required",
    about:
      "With `required`, commands of bash run in a jail or not at all. With `off`, they can do everything that the service can.",
  }),
  toolsDenyList: choice({
    path: "tools.deny_list",
    words: ["documented", "strict"],
    fallback: "documented",
    about: "List of commands that bash refuses; `strict` also refuses interpreters and constructs that hide commands.",
  }),
  toolsDiskMb: integer({
    path: "tools.disk_mb",
    fallback: 1_024,
    min: 1,
    max: 1_048_576,
    about: "Maximum growth of a work directory by commands of bash, in mebibytes.",
  }),
  skillsDirectory: text({
    path: "agents.skills_directory",
    fallbackAbout: "none",
    about:
      "Directory with folders of skills that agents name in `tools.skills`. Tools may read them, and a run finds changes when it starts.",
  }),
  mcpServers: mcpServers(),
  mcpIdleSecs: integer({
    path: "mcp.idle_secs",
    fallback: 300,
    min: 1,
    max: 86_400,
    about: "Seconds after its last call at which the program of an MCP server is stopped.",
  }),
  mcpProgramsMax: integer({
    path: "mcp.programs_max",
    fallback: 32,
    min: 1,
    max: 10_000,
    about: "Maximum number of programs of MCP servers that run at once in one replica.",
  }),
} as const satisfies Record<string, Key<unknown>>;

function mcpServers(): Key<readonly McpServerSetting[]> {
  const about =
    'MCP servers that agents name, one a line: `files={"command": "node", "args": ["/opt/mcp/files.js", "."]}` for a program, which ' +
    'runs in the jail, or `docs={"url": "https://docs.example/mcp", "headers": {"authorization": "Bearer …"}}`. `"clients"` lists the ' +
    "clients whose agents may name it.";
  const row = { path: "mcp.servers", fallback: [] as readonly McpServerSetting[], about };
  const read = (text: string) =>
    readMcpServers(text) ??
    new Expected('lines such as files={"command": "node", "args": ["/opt/mcp/files.js"]}, each name once');
  return { ...makeKey(row, read), separator: "\n", secret: true };
}
