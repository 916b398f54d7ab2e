// The tool write_file: makes a file or replaces all of its content, in one step. Missing directories are made.

import { resolve } from "node:path";
import { readText, type ToolArguments } from "./arguments.ts";
import { contentTooLarge, fileBytesMax } from "./file-size.ts";
import { inTurn } from "./in-turn.ts";
import { describeFailure, toFailure } from "./path-failure.ts";
import { replaceFile } from "./replace-file.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { FilePlace, openPlace } from "./walk.ts";

export const writeFile: Tool = {
  name: "write_file",
  description:
    "Creates a file or replaces its whole content, up to 10 MiB. Missing parent directories are created. " +
    "To change a part of a file, use edit_file.",
  parameters: {
    type: "object",
    properties: {
      file_path: {
        type: "string",
        description: "Path of the file, relative to the work directory or absolute inside it.",
      },
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
  return await inTurn(resolve(context.workDir, path), () => write(path, content, context));
}

async function write(path: string, content: Uint8Array, context: ToolContext): Promise<ToolOutcome> {
  const { signal } = context;
  signal.throwIfAborted();
  const opened = await openPlace(context, path, "write");
  if (!(opened instanceof FilePlace)) {
    return { error: describeFailure(opened, "open") };
  }
  await using place = opened;
  try {
    await replaceFile(place, content, signal);
  } catch (error) {
    return { error: describeFailure(toFailure(error, place.joinedPath), "write") };
  }
  return { content: `Wrote ${content.length} bytes to ${place.realPath}` };
}
