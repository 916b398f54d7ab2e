// READ_FILE: checks only whether the file may be read. The next outbox shows the content that the file has by then.

import type { ToolContext } from "../../../agent/tools/tool.ts";
import { OpenedPath, openInside } from "../../../agent/tools/walk.ts";
import type { CommandOf, CommandResult } from "../command.ts";
import { notFound, workOnFile } from "./file-command.ts";
import { shorten, succeed } from "./result.ts";

/** Checks that a file may be read. */
export async function readFile(command: CommandOf<"READ_FILE">, context: ToolContext): Promise<CommandResult> {
  const { type, path } = command;
  return await workOnFile(
    command,
    context,
    (failure) => notFound(command, failure),
    async (refuse) => {
      const opened = await openInside(context, path, "file");
      if (!(opened instanceof OpenedPath)) {
        return refuse(opened);
      }
      await opened[Symbol.asyncDispose]();
      return succeed(type, `Queued '${shorten(path)}' for next outbox`);
    },
  );
}
