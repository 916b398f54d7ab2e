// RUN_COMMAND: one command of /bin/sh, in the jail that the commands of agents have.

import type { Commands } from "../../../agent/tools/bash/commands.ts";
import type { CommandEnd, Exit, NotRun } from "../../../agent/tools/bash/outcome.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import type { CommandOf, CommandResult, Trace } from "../command.ts";
import { cutText, fail, shorten, succeed } from "./result.ts";

export interface RunOptions {
  readonly commands: Commands;
  /** Undefined: inboxes run no commands. */
  readonly timeoutMs: number | undefined;
}

type RunCommand = CommandOf<"RUN_COMMAND">;

export async function runCommand(
  run: RunCommand,
  context: ToolContext,
  { commands, timeoutMs }: RunOptions,
  again?: Trace,
): Promise<CommandResult> {
  if (again !== undefined) {
    return refuseFor(run, "interrupted; it is not run again, and may have run in part");
  }
  if (timeoutMs === undefined) {
    return refuseFor(run, "commands are disabled");
  }
  const end = await commands.run({ command: run.command, shell: "/bin/sh", timeoutMs }, context);
  if ("words" in end) {
    return refuseFor(run, describeNotRun(end));
  }
  if (end.killed !== undefined) {
    // What was stopped with its run did not end, and has no result.
    context.signal.throwIfAborted();
  }
  return end.killed === "time" ? timedOut(run, end, timeoutMs) : ran(run, end);
}

function ran({ type, command }: RunCommand, end: CommandEnd): CommandResult {
  const code = statusOf(end.exit);
  const summary = `Ran '${shorten(command)}' (exit code ${code})`;
  return code === 0 ? succeed(type, summary, layOut(end)) : fail(type, summary, layOut(end));
}

function timedOut({ type, command }: RunCommand, end: CommandEnd, timeoutMs: number): CommandResult {
  return fail(type, `Command timed out (${timeoutMs / 1_000}s): ${shorten(command)}`, layOut(end));
}

function refuseFor({ type, command }: RunCommand, reason: string): CommandResult {
  return fail(type, `Failed to run '${shorten(command)}': ${reason}`);
}

/** Only the words of a refused command name no place of the host. */
function describeNotRun({ kind, words }: NotRun): string {
  return kind === "refused" ? words : notRunTexts[kind];
}

const notRunTexts = {
  workspace: "commands cannot work in this workspace",
  no_jail: "there is no jail to run commands in",
  not_started: "the jail did not start",
} as const satisfies Record<Exclude<NotRun["kind"], "refused">, string>;

/** What shells add to the number of the signal that ended a process. */
const signalStatus = 128;

function statusOf(exit: Exit): number {
  return "status" in exit ? exit.status : signalStatus + exit.signal;
}

/** Contract, in UTF-16 units, like the notice. */
const outputUnitsMax = 4_000;
const outputNotice = "\n... (output truncated)";

function layOut({ stdout, stderr, limit }: CommandEnd): string {
  const text = stderr.text.trim() === "" ? stdout.text : `${stdout.text}\n${stderr.text}`;
  const shown = cutText(text, outputUnitsMax, outputNotice);
  // An exit code of 137 would leave everybody guessing.
  return limit === undefined ? shown : `${shown}\n... (killed: ${limit})`;
}
