// CREATE_FILE: writes a file with exactly this content and replaces an existing one. Creates missing directories.

import { changeFile } from "../../../agent/tools/change-file.ts";
import { contentTooLarge, fileBytesMax } from "../../../agent/tools/file-size.ts";
import type { ToolContext } from "../../../agent/tools/tool.ts";
import type { CommandOf, CommandResult } from "../command.ts";
import { workOnFile } from "./file-command.ts";
import { describeRefusal, fail, shorten, succeed } from "./result.ts";

/** Creates or replaces a file. A refusal is a failed result. */
export async function createFile(command: CommandOf<"CREATE_FILE">, context: ToolContext): Promise<CommandResult> {
  const { type, path, content } = command;
  const refuseFor = (reason: string) => fail(type, `Failed to create '${shorten(path)}': ${reason}`);
  return await workOnFile(
    command,
    context,
    (failure) => refuseFor(describeRefusal(failure)),
    async (refuse) => {
      const bytes = Buffer.from(content);
      if (bytes.length > fileBytesMax) {
        return refuseFor(contentTooLarge(bytes.length));
      }
      const make = async () => ({ bytes, said: succeed(type, `Created '${shorten(path)}'`) });
      return await changeFile({ path, purpose: "write", make, fail: refuse }, context);
    },
  );
}
