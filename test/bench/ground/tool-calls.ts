// The tools that a bench's model calls and what it calls them with, known to the provider and to whoever sets up the session.

/** Where the provider's process stands for the caller's host as well. */
export const callerPath = "/caller";
/** The tool of that host. */
export const remoteToolName = "look_up";

export type CalledTool = "read_file" | "grep" | "bash" | typeof remoteToolName;

/** Of one turn: the same call for the third time would be taken for a loop. */
export function argumentsOf(tool: CalledTool, turn: number): object {
  switch (tool) {
    case "read_file":
      return { file_path: `file-${turn}.txt` };
    case "grep":
      return { pattern: `needle${turn}` };
    case "bash":
      return { command: `echo ${turn}` };
    case remoteToolName:
      return { key: `${turn}` };
    default:
      return tool satisfies never;
  }
}
