// The one way to a shell: what agents and people have run goes through the same jail, list and limits, and through the same
// count of what work directories have grown by. How an end reads is for who asked.

import { tmpdir } from "node:os";
import type { Clock } from "../../../platform/base/clock.ts";
import type { ToolContext } from "../tool.ts";
import { runConfined } from "./confined.ts";
import { type DenyListName, refuseCommand } from "./deny-list.ts";
import { environmentOf, tempDirectoryOf } from "./environment.ts";
import { Growth } from "./growth.ts";
import type { Shell } from "./jail.ts";
import { type Bubblewrap, launchUnconfined } from "./launch.ts";
import { commandBytesMax, type KillLimit } from "./limits.ts";
import type { CommandEnd, NotRun } from "./outcome.ts";
import { type CommandOptions, followCommand } from "./run-command.ts";
import { TempHomes } from "./temp-home.ts";

export interface CommandRequest {
  readonly command: string;
  readonly shell: Shell;
  readonly timeoutMs: number;
}

export interface Commands {
  /** A command that is stopped by the context's signal has an end too: `killed` tells. */
  readonly run: (request: CommandRequest, context: ToolContext) => Promise<CommandEnd | NotRun>;
}

export interface CommandsOptions {
  /** Undefined: commands run without walls, which somebody asked for. */
  readonly jail: Bubblewrap | undefined;
  readonly denyList: DenyListName;
  /** By how much commands may make a work directory grow. */
  readonly growthBytesMax: number;
  readonly clock: Clock;
  /** Told of each command that is killed, and for what. */
  readonly onKilled?: (limit: KillLimit) => void;
}

export function createCommands(options: CommandsOptions): Commands {
  const { denyList, jail, clock, onKilled } = options;
  const growth = new Growth(options.growthBytesMax);
  const homes = new TempHomes();
  return {
    run: async (request, context) => {
      const refusal = refuseText(request.command, denyList);
      if (refusal !== undefined) {
        return { kind: "refused", words: refusal };
      }
      const follow = { clock, timeoutMs: request.timeoutMs, signal: context.signal, onKilled };
      return jail === undefined
        ? await runUnconfined(request, context, homes, follow)
        : await runConfined(request, context, { jail, growth, clock }, follow);
    },
  };
}

/** Where there is no jail, and no leave to do without. */
export function refuseCommands(why: string): Commands {
  return { run: async () => ({ kind: "no_jail", words: why }) };
}

function refuseText(command: string, denyList: DenyListName): string | undefined {
  if (Buffer.byteLength(command) > commandBytesMax) {
    return `command too long (max ${commandBytesMax} bytes)`;
  }
  // The launcher could not be told of it.
  return command.includes("\0") ? "command contains a NUL byte" : refuseCommand(command, denyList);
}

async function runUnconfined(
  { command, shell }: CommandRequest,
  { workDir, sessionId }: ToolContext,
  homes: TempHomes,
  options: CommandOptions,
): Promise<CommandEnd | NotRun> {
  const home = tempDirectoryOf(tmpdir(), sessionId);
  await using _open = await homes.open(home);
  const launched = launchUnconfined(command, { shell, workDir, environment: environmentOf(home) });
  return await followCommand(launched, options);
}
