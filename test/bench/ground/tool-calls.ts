// The tools that a bench's model calls and their arguments, known to the provider and to the code that creates the session.

/** The path under which the provider's process acts as the caller's host as well. */
export const callerPath = "/caller";
/** The tool of the caller's host. */
export const remoteToolName = "look_up";

export type CalledTool = "read_file" | "grep" | "bash" | typeof remoteToolName;

/** The arguments of one turn: the service would take a third call with the same arguments for a loop. */
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
