// The tool list_dir: lists the entries of one directory with their sizes, including hidden ones. A link is listed as itself.

import { lstat, opendir } from "node:fs/promises";
import { readText, type ToolArguments } from "./arguments.ts";
import { CappedText } from "./cap.ts";
import { descriptorPath } from "./descriptors.ts";
import { describeFailure } from "./path-failure.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { OpenedPath, openInside } from "./walk.ts";

/** The tool list_dir. */
export const listDir: Tool = {
  name: "list_dir",
  description:
    "Lists one directory, sorted by name: per line the name, with a slash after directories, a tab and the size in bytes. " +
    "Hidden entries are included; an empty directory gives an empty result.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description:
          "Path of the directory, relative to the work directory or absolute inside it. Default: the work directory.",
      },
    },
  },
  afterCrash: "again",
  run: runListDir,
};

/** The maximum number of entries. Sorting needs all names at once; this many take a few seconds to size. */
const entriesMax = 100_000;

/** One character per byte, because names need not be UTF-8. Text order is then byte order. */
const nameEncoding = "latin1";

async function runListDir(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const opened = await openInside(context, readText(args, "path") ?? "", "directory");
  if (!(opened instanceof OpenedPath)) {
    return { error: describeFailure(opened, "open") };
  }
  await using directory = opened;
  const path = descriptorPath(directory.handle.fd);
  const names = await readNames(path, context.signal);
  if (names.length > entriesMax) {
    return { error: `${directory.joinedPath} has more than ${entriesMax} entries, too many to list` };
  }
  const content = new CappedText();
  for (const name of names.sort()) {
    context.signal.throwIfAborted();
    content.add(await describeEntry(path, Buffer.from(name, nameEncoding)));
  }
  return { content: content.toString() };
}

/** Reads the names, and stops at one more than the maximum. */
async function readNames(path: string, signal: AbortSignal): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(path, { encoding: nameEncoding })) {
    signal.throwIfAborted();
    names.push(entry.name);
    if (names.length > entriesMax) {
      break;
    }
  }
  return names;
}

/** Returns the line of an entry, or empty text when the entry was removed after its name was read. */
async function describeEntry(directoryPath: string, name: Buffer): Promise<string> {
  try {
    const stat = await lstat(Buffer.concat([Buffer.from(`${directoryPath}/`), name]));
    return `${name.toString()}${stat.isDirectory() ? "/" : ""}\t${stat.size}\n`;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return "";
    }
    throw error;
  }
}
