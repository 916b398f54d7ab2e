// Executes the commands of an inbox, through the same walk and the same jail as the tools of agents.
// X1: every command ends in one result; what it may not do is a result too. Only a stopped run throws, and defects.
// X2: no result names a place of the host, but for what a command itself prints: paths are shown as they were given.
// X3: a command whose end nobody knows is never done twice where twice is not the same as once.

import type { Commands } from "../../../agent/tools/bash/commands.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import type { Command, CommandResult, Trace } from "../command.ts";
import { createFile } from "./create-file.ts";
import { deleteFile, traceDelete } from "./delete-file.ts";
import { editFile, traceEdit } from "./edit-file.ts";
import { readFile } from "./read-file.ts";
import { fail, succeed } from "./result.ts";
import { type RunOptions, runCommand } from "./run-command.ts";

export interface ExecutorOptions {
  readonly commands: Commands;
  /** Whether inboxes may run commands. */
  readonly mayRun: boolean;
  /** Contract: 30 seconds if not given. */
  readonly commandTimeoutMs?: number;
}

/** Where commands work, for which session, and until when. */
export type ExecuteContext = ToolContext;

export interface Executor {
  /** To be kept before the command is begun. `{}` where there is nothing to know it again by, bad paths included. */
  readonly trace: (command: Command, context: ExecuteContext) => Promise<Trace>;
  /** `again` is what an earlier attempt was begun with, of which nobody knows whether it ended. */
  readonly run: (command: Command, context: ExecuteContext, again?: Trace) => Promise<CommandResult>;
}

/** Contract. */
const timeoutMsFallback = 30_000;

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
