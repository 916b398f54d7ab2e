// The tool edit_file: replaces a text that occurs once, or all of its occurrences. The file changes atomically and keeps its
// mode; bytes outside the replaced text stay the same.

import { filePathParameter, readText, type ToolArguments } from "./arguments.ts";
import { changeFile, failCall, type Made } from "./change-file.ts";
import { readContent } from "./file-content.ts";
import { contentTooLarge, fileBytesMax, tooLarge } from "./file-size.ts";
import { countOccurrences, replaceOccurrences } from "./occurrences.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import type { FilePlace } from "./walk.ts";

/** The tool edit_file. */
export const editFile: Tool = {
  name: "edit_file",
  description:
    "Replaces text in an existing file. old_string must be in the file exactly once, with every space and line break " +
    "as in the file, unless replace_all is true.",
  parameters: {
    type: "object",
    properties: {
      file_path: filePathParameter,
      old_string: { type: "string", description: "The exact text to replace. Without the line numbers of read_file." },
      new_string: { type: "string", description: "The text to put in its place; empty to delete it." },
      replace_all: { type: "boolean", description: "Replace every occurrence. Default: false." },
    },
    required: ["file_path", "old_string", "new_string"],
  },
  afterCrash: "report",
  run: runEditFile,
};

interface Edit {
  readonly part: Buffer;
  readonly replacement: Buffer;
  readonly all: boolean;
}

async function runEditFile(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const path = readText(args, "file_path");
  const part = readText(args, "old_string");
  if (path === undefined || part === undefined) {
    return { error: "file_path and old_string are required" };
  }
  const edit: Edit = {
    part: Buffer.from(part),
    replacement: Buffer.from(readText(args, "new_string") ?? ""),
    all: args.replace_all === true,
  };
  const make = (place: FilePlace) => editContent(place, edit, context.signal);
  return await changeFile({ path, purpose: "edit", make, fail: failCall }, context);
}

async function editContent(
  { file, joinedPath }: FilePlace,
  edit: Edit,
  signal: AbortSignal,
): Promise<Made<ToolOutcome>> {
  const content = file === undefined ? Buffer.alloc(0) : await readContent(file.handle, signal);
  if (content.length > fileBytesMax) {
    return { unchanged: { error: tooLarge(joinedPath, Math.max(content.length, file?.stat.size ?? 0)) } };
  }
  const count = await countOccurrences(content, edit.part, signal);
  if (count === 0) {
    return { unchanged: { error: "old_string not found in file" } };
  }
  if (count > 1 && !edit.all) {
    return { unchanged: { error: `old_string found ${count} times; use replace_all or provide more context` } };
  }
  const bytes = content.length + count * (edit.replacement.length - edit.part.length);
  if (bytes > fileBytesMax) {
    return { unchanged: { error: contentTooLarge(bytes) } };
  }
  return {
    bytes: await replaceOccurrences(content, { ...edit, count }, signal),
    said: { content: "File edited successfully" },
  };
}
