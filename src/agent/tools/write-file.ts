// The tool write_file: creates a file or replaces its whole content atomically. It creates missing directories.

import { filePathParameter, readText, type ToolArguments } from "./arguments.ts";
import { changeFile, failCall } from "./change-file.ts";
import { contentTooLarge, fileBytesMax } from "./file-size.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import type { FilePlace } from "./walk.ts";

/** The tool write_file. */
export const writeFile: Tool = {
  name: "write_file",
  description:
    "Creates a file or replaces its whole content, up to 10 MiB. Missing parent directories are created. " +
    "To change a part of a file, use edit_file.",
  parameters: {
    type: "object",
    properties: {
      file_path: filePathParameter,
      content: { type: "string", description: "The whole new content of the file." },
    },
    required: ["file_path", "content"],
  },
  afterCrash: "report",
  run: runWriteFile,
};

async function runWriteFile(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const path = readText(args, "file_path");
  if (path === undefined) {
    return { error: "file_path is required" };
  }
  const content = Buffer.from(readText(args, "content") ?? "");
  if (content.length > fileBytesMax) {
    return { error: contentTooLarge(content.length) };
  }
  const make = async ({ realPath }: FilePlace) => ({
    bytes: content,
    said: { content: `Wrote ${content.length} bytes to ${realPath}` },
  });
  return await changeFile<ToolOutcome>({ path, purpose: "write", make, fail: failCall }, context);
}
