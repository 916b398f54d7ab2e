// Runs shell commands of agents and of people, through the same jail, deny list, limits and growth accounting. The callers word
// the outcome.

import { tmpdir } from "node:os";
import type { Clock } from "../../../platform/base/clock.ts";
import type { ToolContext } from "../tool.ts";
import { runConfined, type Served } from "./confined.ts";
import { type DenyListName, refuseCommand } from "./deny-list.ts";
import { environmentOf, tempDirectoryOf } from "./environment.ts";
import { Growth } from "./growth.ts";
import type { Shell } from "./jail.ts";
import { type Bubblewrap, launchUnconfined } from "./launch.ts";
import { commandBytesMax, type KillLimit } from "./limits.ts";
import type { CommandEnd, NotRun } from "./outcome.ts";
import { type CommandOptions, followCommand } from "./run-command.ts";
import { TempHomes } from "./temp-home.ts";

/** A command line to run. */
export interface CommandRequest {
  readonly command: string;
  readonly shell: Shell;
  readonly timeoutMs: number;
}

/** Runs commands. */
export interface Commands {
  /** Runs a command. A command that the context's signal stops also has an end; `killed` gives the reason. */
  readonly run: (request: CommandRequest, context: ToolContext) => Promise<CommandEnd | NotRun>;
  /** Runs a program of the operator that serves, until the signal stops it; the list of refused commands does not apply. */
  readonly serve: (request: ServeRequest, context: ToolContext) => Promise<CommandEnd | NotRun>;
}

/** A program to run until it is stopped. */
export interface ServeRequest extends Served {
  readonly command: string;
}

/** Options of `createCommands`. */
export interface CommandsOptions {
  /** Undefined runs commands without isolation, which an operator must choose explicitly. */
  readonly jail: Bubblewrap | undefined;
  readonly denyList: DenyListName;
  /** The maximum growth of a work directory through commands. */
  readonly growthBytesMax: number;
  readonly clock: Clock;
  /** Called for each killed command, with the limit that it exceeded. */
  readonly onKilled?: (limit: KillLimit) => void;
}

/** Creates the runner of commands. */
export function createCommands(options: CommandsOptions): Commands {
  const { denyList, jail, clock, onKilled } = options;
  const growth = new Growth(options.growthBytesMax);
  const homes = new TempHomes();
  const start = async (request: CommandRequest & { readonly served?: Served }, context: ToolContext) => {
    const follow = { clock, timeoutMs: request.timeoutMs, signal: context.signal, onKilled };
    return jail === undefined
      ? await runUnconfined(request, context, homes, follow)
      : await runConfined(request, context, { jail, growth, clock }, follow);
  };
  return {
    run: async (request, context) => {
      const refusal = refuseText(request.command, denyList);
      return refusal === undefined ? await start(request, context) : { kind: "refused", words: refusal };
    },
    serve: async ({ command, ...served }, context) =>
      await start({ command, shell: "/bin/bash", timeoutMs: servedMsMax, served }, context),
  };
}

/** A program of a session that is never idle ends after a day, so that nothing it leaks lasts. */
const servedMsMax = 86_400_000;

/** Returns a runner that refuses every command, for a host without a jail that may not run commands unconfined. */
export function refuseCommands(why: string): Commands {
  const refuse = async (): Promise<NotRun> => ({ kind: "no_jail", words: why });
  return { run: refuse, serve: refuse };
}

function refuseText(command: string, denyList: DenyListName): string | undefined {
  if (Buffer.byteLength(command) > commandBytesMax) {
    return `command too long (max ${commandBytesMax} bytes)`;
  }
  // An argument of the launcher cannot contain a NUL byte.
  return command.includes("\0") ? "command contains a NUL byte" : refuseCommand(command, denyList);
}

async function runUnconfined(
  { command, shell, served }: CommandRequest & { readonly served?: Served },
  { workDir, sessionId }: ToolContext,
  homes: TempHomes,
  options: CommandOptions,
): Promise<CommandEnd | NotRun> {
  const home = tempDirectoryOf(tmpdir(), sessionId);
  await using _open = await homes.open(home);
  const environment = { ...environmentOf(home), ...served?.environment };
  const launched = launchUnconfined(command, { shell, workDir, environment, isServed: served !== undefined });
  served?.onLaunched(launched.child);
  return await followCommand(launched, options);
}
