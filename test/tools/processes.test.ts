// No tool shows the environment or the memory of a process, for any work directory of a session: they contain the service's
// secrets.

import { closeSync, openSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { builtinTools } from "../../src/agent/tools/builtin.ts";
import { visitFiles } from "../../src/agent/tools/search/tree.ts";
import { workspaceAt } from "./workspace.ts";

const places = [
  ["/", "proc/self/environ"],
  ["/proc", "self/environ"],
  ["/proc", `${process.pid}/environ`],
  ["/proc/self", "environ"],
  ["/proc/self", "task"],
  ["/proc/self/root/proc/self", "environ"],
] as const;

const argumentsFor = (path: string): Readonly<Record<string, object>> => ({
  read_file: { file_path: path },
  write_file: { file_path: path, content: "x" },
  edit_file: { file_path: path, old_string: "PATH", new_string: "x" },
  list_dir: { path },
  glob: { path, pattern: "*" },
  grep: { path, pattern: "PATH" },
});

test.each(places)("no tool with work directory %s shows %s", async (workDir, path) => {
  const context = { ...workspaceAt(workDir), sessionId: "s1", signal: new AbortController().signal };
  for (const tool of builtinTools) {
    const outcome = await tool.run({ ...argumentsFor(path)[tool.name] }, context);
    expect(outcome, tool.name).not.toHaveProperty("content");
  }
});

test("a search does not enter directories that show processes", () => {
  const directoryFd = openSync("/", "r");
  const skippedNames = new Set(readdirSync("/").filter((name) => name !== "proc"));
  const found: string[] = [];
  visitFiles({ directoryFd, realPath: "/", hidden: [], skippedNames, depthMax: 2 }, ({ path }) => found.push(path) > 0);
  closeSync(directoryFd);
  expect(found.filter((path) => path.startsWith("proc/"))).toEqual([]);
});
