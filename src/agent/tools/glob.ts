// The tool glob: lists the files whose path matches a pattern. It neither follows nor lists links.

import { isAbsolute, resolve } from "node:path";
import type { Workspace } from "../../engine/sessions/workspace.ts";
import { readText, type ToolArguments } from "./arguments.ts";
import { describeFailure, leadsOutside, type PathFailure } from "./path-failure.ts";
import { leadsUp, splitGlob } from "./search/glob-pattern.ts";
import { refusePattern } from "./search/request.ts";
import { search } from "./search/threads.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { OpenedPath, openInside } from "./walk.ts";

/** The tool glob. */
export const glob: Tool = {
  name: "glob",
  description:
    "Finds files by a glob pattern and returns their absolute paths, one a line, 1000 at most. " +
    "Does not look into .git, node_modules, vendor and .idea unless the path or the start of the pattern names them.",
  parameters: {
    type: "object",
    properties: {
      pattern: {
        type: "string",
        description:
          "Matched against the path from the directory searched. ** matches any number of directories, * and ? match " +
          "characters of one name; [a-z], [!a] and {a,b} work too. For instance src/**/*.{ts,tsx}.",
      },
      path: { type: "string", description: "The directory to search. Default: the work directory." },
    },
    required: ["pattern"],
  },
  afterCrash: "again",
  run: runGlob,
};

async function runGlob(args: ToolArguments, context: ToolContext): Promise<ToolOutcome> {
  const { client, workDir, signal } = context;
  const pattern = readText(args, "pattern");
  if (pattern === undefined) {
    return { error: "pattern is required" };
  }
  const refusal = refusePattern(pattern);
  if (refusal !== undefined) {
    return { error: refusal };
  }
  const { directory, rest } = splitGlob(pattern);
  const path = readText(args, "path") ?? "";
  if (leadsUp(rest)) {
    return { error: leadsOutside(`${resolve(workDir, path, directory)}/${rest}`) };
  }
  const start = await openStart(context, path, directory);
  if (start === undefined) {
    return { content: "No files found" };
  }
  if (!(start instanceof OpenedPath)) {
    return { error: describeFailure(start, "open") };
  }
  await using root = start;
  const { handle, joinedPath, realPath } = root;
  const searched = { fd: handle.fd, isDirectory: true, joinedPath, realPath, hidden: context.hidden };
  return await search({ kind: "files", root: searched, pattern: rest }, client, signal);
}

/** Returns undefined when `path` exists but not the directory at the start of the pattern: then nothing matches. */
async function openStart(
  workspace: Workspace,
  path: string,
  directory: string,
): Promise<OpenedPath | PathFailure | undefined> {
  const searched = await openInside(workspace, path, "directory");
  if (directory === "" || !(searched instanceof OpenedPath)) {
    return searched;
  }
  await using _closed = searched;
  const start = await openInside(
    workspace,
    isAbsolute(directory) || path === "" ? directory : `${path}/${directory}`,
    "directory",
  );
  return "kind" in start && start.kind === "system" && ["ENOENT", "ENOTDIR"].includes(start.errno) ? undefined : start;
}
