// An MCP server in Python as a tool of an agent, unmodified, in the jail.

import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../program.ts";
import { mcpPython, programs } from "../programs.ts";
import { callAll, openWorkDir } from "./call-server.ts";

test.skipIf(!programs["mcp-python"].isHere())(
  "mcp-server-git: commits a file of the session's work directory, and refuses a repository beside it",
  async () => {
    const workDir = await openWorkDir();
    const git = (...args: readonly string[]) => runProgram("git", args, { directory: workDir });
    await git("init", "--quiet");
    // The environment, and the Python that it was made with.
    const folders = [mcpPython, realpathSync(mcpPython)].map((each) => dirname(dirname(each)));
    const program = {
      command: mcpPython,
      args: ["-m", "mcp_server_git", "--repository", "{work_dir}"],
      env: {
        ...{ GIT_AUTHOR_NAME: "agent", GIT_AUTHOR_EMAIL: "agent@example.com" },
        ...{ GIT_COMMITTER_NAME: "agent", GIT_COMMITTER_EMAIL: "agent@example.com" },
      },
      folders: folders.filter((each) => each !== "/usr"),
    };
    const { ends } = await callAll(program, workDir, [
      { name: "git_status", args: { repo_path: workDir } },
      { name: "git_add", args: { repo_path: workDir, files: ["note.txt"] } },
      { name: "git_commit", args: { repo_path: workDir, message: "Add the note" } },
      { name: "git_status", args: { repo_path: "/etc" } },
    ]);
    expect(ends).toEqual([
      expect.stringContaining("note.txt"),
      expect.stringContaining("staged"),
      expect.stringContaining("committed"),
      expect.stringContaining("outside"),
    ]);
    expect((await git("log", "--format=%an %s")).stdout.toString()).toBe("agent Add the note\n");
  },
);
