// A program of the operator that serves over its standard input and output, in the jail.

import type { ChildProcess } from "node:child_process";
import { type Clock, over } from "../../../platform/base/clock.ts";
import type { ProgramAddress } from "../../../platform/config/program-address.ts";
import type { ToolContext } from "../tool.ts";
import type { Commands } from "./commands.ts";
import type { CommandEnd, NotRun } from "./outcome.ts";

/** What starts a program. */
export interface ProgramOptions {
  readonly commands: Pick<Commands, "serve">;
  readonly clock: Clock;
  /** Where it works. Its signal does not end the program. */
  readonly context: Omit<ToolContext, "signal">;
  /** Whether it has the network of the machine. */
  readonly network?: boolean;
}

/** A started program. */
export interface ServedProgram {
  readonly child: ChildProcess;
  /** Aborts with the reason when the program ends, and when its user breaks it. */
  readonly broken: AbortController;
  /** Closes its input, and kills it when it has not ended soon. Resolves at its end. */
  stop(): Promise<void>;
}

/** The maximum length of its last words. */
const errorCharsMax = 500;

/** The time between the end of its input and the kill. */
const stopGraceMs = 2_000;

/** Starts a program. Throws when it does not start. */
export async function serveProgram(
  { environment, folders, ...line }: ProgramAddress,
  { commands, clock, context, network }: ProgramOptions,
): Promise<ServedProgram> {
  const broken = new AbortController();
  const kill = new AbortController();
  const launched = Promise.withResolvers<ChildProcess>();
  const fill = (text: string): string => text.replaceAll("{work_dir}", context.workDir);
  const request = {
    ...{ command: commandOf([line.command, ...line.args].map(fill)), folders, network },
    environment: Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(value)])),
    onLaunched: launched.resolve,
  };
  const ended = commands
    .serve(request, { ...context, signal: kill.signal })
    .then(describeEnd, (error: unknown) => `the program could not be started: ${String(error)}`)
    .then((words) => {
      broken.abort(new Error(words));
      launched.reject(new Error(words));
    });
  const child = await launched.promise;
  return {
    child,
    broken,
    stop: async () => {
      const done = new AbortController();
      const wait = clock.sleep(stopGraceMs, done.signal).then(() => kill.abort(new Error("the program was stopped")));
      child.stdin?.end();
      await ended;
      done.abort(over);
      await wait;
    },
  };
}

function commandOf(words: readonly string[]): string {
  return `exec ${words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ")}`;
}

function describeEnd(end: CommandEnd | NotRun): string {
  if ("words" in end) {
    return `the program could not be started: ${end.words}`;
  }
  const { exit, limit, stderr } = end;
  const how = limit ?? ("status" in exit ? `status ${exit.status}` : `signal ${exit.signal}`);
  const [last = ""] = stderr.text.trim().split("\n").slice(-1);
  return `the program ended (${how})${last === "" ? "" : `: ${last.slice(0, errorCharsMax)}`}`;
}
