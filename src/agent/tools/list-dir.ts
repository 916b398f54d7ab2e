// The tool list_dir: lists the entries of one directory with their sizes, including hidden ones. A link is listed as itself.

import { readText, type ToolArguments } from "./arguments.ts";
import { CappedText } from "./cap.ts";
import { type EntryName, readNames, statEntry, textOfName, tooMany } from "./directory-entries.ts";
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

async function runListDir(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const opened = await openInside(context, readText(args, "path") ?? "", "directory");
  if (!(opened instanceof OpenedPath)) {
    return { error: describeFailure(opened, "open") };
  }
  await using directory = opened;
  const names = await readNames(directory, context.signal);
  if (names === undefined) {
    return { error: `${directory.joinedPath} has ${tooMany}` };
  }
  const content = new CappedText();
  for (const name of names) {
    context.signal.throwIfAborted();
    content.add(await describeEntry(directory, name));
  }
  return { content: content.toString() };
}

/** Returns the line of an entry, or empty text when the entry was removed after its name was read. */
async function describeEntry(directory: OpenedPath, name: EntryName): Promise<string> {
  const stat = await statEntry(directory, name);
  return stat === undefined ? "" : `${textOfName(name)}${stat.isDirectory() ? "/" : ""}\t${stat.size}\n`;
}
