// RUN_COMMAND: runs one command of /bin/sh, in the same jail as the commands of agents.

import type { Commands } from "../../../agent/tools/bash/commands.ts";
import type { CommandEnd, Exit, NotRun } from "../../../agent/tools/bash/outcome.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import type { CommandOf, CommandResult, Trace } from "../command.ts";
import { cutText, fail, shorten, succeed } from "./result.ts";

/** Options of commands. */
export interface RunOptions {
  readonly commands: Pick<Commands, "run">;
  /** The timeout of a command; undefined when inboxes may not run commands. */
  readonly timeoutMs: number | undefined;
}

type RunCommand = CommandOf<"RUN_COMMAND">;

/** Runs a command. `again` means that an earlier attempt was interrupted: the command is then not run again. */
export async function runCommand(
  run: RunCommand,
  context: ToolContext,
  { commands, timeoutMs }: RunOptions,
  again?: Trace,
): Promise<CommandResult> {
  if (again !== undefined) {
    return refuseFor(run, "interrupted; the command may have run in part, and is not run again");
  }
  if (timeoutMs === undefined) {
    return refuseFor(run, "commands are disabled");
  }
  const end = await commands.run({ command: run.command, shell: "/bin/sh", timeoutMs }, context);
  if ("words" in end) {
    return refuseFor(run, describeNotRun(end));
  }
  if (end.killed !== undefined) {
    // A command that was stopped with its run did not end, so it has no result.
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

/** Describes why a command was not run. Only the words of a refused command contain no path of the host. */
function describeNotRun({ kind, words }: NotRun): string {
  return kind === "refused" ? words : notRunTexts[kind];
}

const notRunTexts = {
  workspace: "commands cannot work in this workspace",
  no_jail: "there is no jail to run commands in",
  not_started: "the jail did not start",
} as const satisfies Record<Exclude<NotRun["kind"], "refused">, string>;

/** The number that shells add to the signal that ended a process. */
const signalStatus = 128;

function statusOf(exit: Exit): number {
  return "status" in exit ? exit.status : signalStatus + exit.signal;
}

/** The contract's maximum of the output, in UTF-16 units like the notice. */
const outputUnitsMax = 4_000;
const outputNotice = "\n... (output truncated)";

function layOut({ stdout, stderr, limit }: CommandEnd): string {
  const text = stderr.text.trim() === "" ? stdout.text : `${stdout.text}\n${stderr.text}`;
  const shown = cutText(text, outputUnitsMax, outputNotice);
  // The reason for the kill: an exit code of 137 alone does not explain it.
  return limit === undefined ? shown : `${shown}\n... (killed: ${limit})`;
}
