// Executes the commands of an inbox, with the same path checks and the same jail as the tools of agents.
// X1: every command ends in one result; a refusal is a result too. Only a stopped run and defects throw.
// X2: no result names a path of the host, except for what a command itself prints: paths are shown as they were given.
// X3: a command with an unknown outcome is never repeated when a repetition would change the outcome.

import type { Commands } from "../../../agent/tools/bash/commands.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import type { Command, CommandResult, Trace } from "../command.ts";
import { createFile } from "./create-file.ts";
import { deleteFile, traceDelete } from "./delete-file.ts";
import { editFile, traceEdit } from "./edit-file.ts";
import { readFile } from "./read-file.ts";
import { fail, succeed } from "./result.ts";
import { type RunOptions, runCommand } from "./run-command.ts";

/** Options of the executor. */
export interface ExecutorOptions {
  readonly commands: Pick<Commands, "run">;
  /** Whether inboxes may run commands. */
  readonly mayRun: boolean;
  /** The timeout of a command. The contract's default is 30 seconds. */
  readonly commandTimeoutMs?: number;
}

/** The work directory of the commands, their session, and their signal. */
export type ExecuteContext = ToolContext;

/** Executes commands. */
export interface Executor {
  /**
   * Reads the trace of a command, to be stored before the command begins. `{}` when the command needs no trace or its path is
   * invalid.
   */
  readonly trace: (command: Command, context: ExecuteContext) => Promise<Trace>;
  /** Executes a command. `again` is the trace of an earlier attempt with an unknown outcome. */
  readonly run: (command: Command, context: ExecuteContext, again?: Trace) => Promise<CommandResult>;
}

/** The default timeout by the contract. */
const timeoutMsFallback = 30_000;

/** Creates the executor. */
export function createExecutor({ commands, mayRun, commandTimeoutMs }: ExecutorOptions): Executor {
  const running = { commands, timeoutMs: mayRun ? (commandTimeoutMs ?? timeoutMsFallback) : undefined };
  return {
    trace: async (command, context) => {
      context.signal.throwIfAborted();
      return await traceCommand(command, context);
    },
    run: async (command, context, again) => {
      context.signal.throwIfAborted();
      return await execute(command, context, running, again);
    },
  };
}

async function traceCommand(command: Command, context: ExecuteContext): Promise<Trace> {
  switch (command.type) {
    case "EDIT_FILE":
      return await traceEdit(command, context);
    case "DELETE_FILE":
      return await traceDelete(command, context);
    default:
      return {};
  }
}

async function execute(
  command: Command,
  context: ExecuteContext,
  running: RunOptions,
  again?: Trace,
): Promise<CommandResult> {
  switch (command.type) {
    case "CREATE_FILE":
      return await createFile(command, context);
    case "EDIT_FILE":
      return await editFile(command, context, again);
    case "DELETE_FILE":
      return await deleteFile(command, context, again);
    case "READ_FILE":
      return await readFile(command, context);
    case "RUN_COMMAND":
      return await runCommand(command, context, running, again);
    case "MESSAGE":
      return succeed(command.type, command.text);
    case "DONE":
      return succeed(command.type, command.message);
    case "PARSE_ERROR":
      return fail(command.type, command.message, command.detail);
    default:
      return command satisfies never;
  }
}
