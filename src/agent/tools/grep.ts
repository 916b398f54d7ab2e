// The tool grep: lists the lines of files that match a regular expression. It does not follow links.

import { readText, type ToolArguments } from "./arguments.ts";
import { describeFailure } from "./path-failure.ts";
import { refusePattern } from "./search/request.ts";
import { search } from "./search/threads.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { OpenedPath, openInside } from "./walk.ts";

/** The tool grep. */
export const grep: Tool = {
  name: "grep",
  description:
    "Searches the lines of text files with a regular expression and returns path:line number:text of each match, " +
    "100 lines at most. Skips files of more than 1 MiB, binary files, and directories such as .git, node_modules, " +
    "vendor and dist.",
  parameters: {
    type: "object",
    properties: {
      pattern: {
        type: "string",
        description: "A regular expression in the syntax of Go (RE2): no look-around and no back-references.",
      },
      path: { type: "string", description: "The directory or the file to search. Default: the work directory." },
      include: { type: "string", description: "Search only files whose name matches this glob pattern, such as *.go." },
    },
    required: ["pattern"],
  },
  afterCrash: "again",
  run: runGrep,
};

async function runGrep(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const pattern = readText(args, "pattern");
  const include = readText(args, "include");
  if (pattern === undefined) {
    return { error: "pattern is required" };
  }
  const refusal = refusePattern(pattern) ?? refusePattern(include ?? "");
  if (refusal !== undefined) {
    return { error: refusal };
  }
  const opened = await openInside(context, readText(args, "path") ?? "", "either");
  if (!(opened instanceof OpenedPath)) {
    return { error: describeFailure(opened, "open") };
  }
  await using start = opened;
  const { handle, stat, joinedPath, realPath } = start;
  const root = { fd: handle.fd, isDirectory: stat.isDirectory(), joinedPath, realPath, hidden: context.hidden };
  return await search({ kind: "lines", root, pattern, include }, context.client, context.signal);
}
