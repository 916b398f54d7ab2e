// The tool bash: runs one command line in its own jail. Only files in the work directory remain afterwards.

import { readInteger, readText, type ToolArguments } from "../arguments.ts";
import type { Tool, ToolContext, ToolOutcome } from "../tool.ts";
import type { Commands } from "./commands.ts";
import { timeoutSecs } from "./limits.ts";
import { endToOutcome } from "./outcome.ts";

/** Creates the tool bash. */
export function createBash(commands: Commands): Tool {
  return {
    name: "bash",
    description:
      "Runs one command line in bash, in the work directory, and returns what it printed. There is no network. " +
      "Only files in the work directory stay: background processes and temporary files do not outlive the command. " +
      "A file may have 10 MB, a process 512 MB of memory; there may be 64 processes. Output is cut at 100 KB.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string", description: "The command line." },
        timeout: {
          type: "integer",
          description: `Seconds after which the command is killed. Default: ${timeoutSecs.fallback}.`,
        },
      },
      required: ["command"],
    },
    afterCrash: "report",
    run: (args, context) => runBash(args, context, commands),
  };
}

async function runBash(args: ToolArguments, context: ToolContext, commands: Commands): Promise<ToolOutcome> {
  const command = readText(args, "command");
  if (command === undefined) {
    return { error: "command is required" };
  }
  const { least, most, fallback } = timeoutSecs;
  const seconds = Math.min(most, Math.max(least, readInteger(args, "timeout") ?? fallback));
  return endToOutcome(await commands.run({ command, shell: "/bin/bash", timeoutMs: seconds * 1_000 }, context));
}
