// The tool bash: one command line in a jail of its own. Files in the work directory are all that stays of it.

import { tmpdir } from "node:os";
import type { Clock } from "../../base/clock.ts";
import { readInteger, readText, type ToolArguments } from "../arguments.ts";
import type { Tool, ToolContext, ToolOutcome } from "../tool.ts";
import { runConfined } from "./confined.ts";
import { type DenyListName, refuseCommand } from "./deny-list.ts";
import { environmentOf, tempDirectoryOf } from "./environment.ts";
import { Growth } from "./growth.ts";
import { type Bubblewrap, launchUnconfined } from "./launch.ts";
import { commandBytesMax, type KillLimit, timeoutSecs } from "./limits.ts";
import { presentEnd } from "./outcome.ts";
import { type CommandOptions, followCommand } from "./run-command.ts";
import { TempHomes } from "./temp-home.ts";

export interface BashOptions {
  /** Undefined: commands run without walls, which somebody asked for. */
  readonly jail: Bubblewrap | undefined;
  readonly denyList: DenyListName;
  /** By how much commands may make a work directory grow. */
  readonly growthBytesMax: number;
  readonly clock: Clock;
  /** Told of each command that is killed, and for what. */
  readonly onKilled?: (limit: KillLimit) => void;
}

export function createBash(options: BashOptions): Tool {
  const bash = { ...options, growth: new Growth(options.growthBytesMax), homes: new TempHomes() };
  return {
    name: "bash",
    description:
      "Runs one command line in bash, in the work directory, and returns what it printed. There is no network. " +
      "Only files in the work directory stay: background processes end, and temporary files go, when the command ends. " +
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
    run: (args, context) => runBash(args, context, bash),
  };
}

interface Bash extends BashOptions {
  readonly growth: Growth;
  readonly homes: TempHomes;
}

async function runBash(args: ToolArguments, context: ToolContext, bash: Bash): Promise<ToolOutcome> {
  const command = readText(args, "command");
  const refusal = command === undefined ? "command is required" : refuseText(command, bash.denyList);
  if (command === undefined || refusal !== undefined) {
    return { error: refusal ?? "command is required" };
  }
  const { least, most, fallback } = timeoutSecs;
  const seconds = Math.min(most, Math.max(least, readInteger(args, "timeout") ?? fallback));
  const { jail, clock, onKilled } = bash;
  const options = { clock, timeoutMs: seconds * 1_000, signal: context.signal, onKilled };
  return jail === undefined
    ? await runUnconfined(command, context, bash.homes, options)
    : await runConfined(command, context, { ...bash, jail }, options);
}

function refuseText(command: string, denyList: DenyListName): string | undefined {
  if (Buffer.byteLength(command) > commandBytesMax) {
    return `command too long (max ${commandBytesMax} bytes)`;
  }
  // The launcher could not be told of it.
  return command.includes("\0") ? "command contains a NUL byte" : refuseCommand(command, denyList);
}

async function runUnconfined(
  command: string,
  { workDir, sessionId }: ToolContext,
  homes: TempHomes,
  options: CommandOptions,
): Promise<ToolOutcome> {
  const home = tempDirectoryOf(tmpdir(), sessionId);
  await using _open = await homes.open(home);
  const launched = launchUnconfined(command, { workDir, environment: environmentOf(home) });
  return presentEnd(await followCommand(launched, options));
}
