// Compares the protos with earlier ones: a change that breaks a client is an error. On a branch the base is the commit where it
// left main. On main it is the commit before.

import { mkdir, mkdtempDisposable, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { repositoryRoot, runCommand } from "./run-command.ts";

/** The names of main, in order of authority: the remote one comes first, because clients already build against it. */
const mainReferences = ["origin/main", "main"];

/** Returns what was compared. Throws when a change breaks a client. */
export async function checkBreaking(): Promise<string> {
  const base = await findBase();
  const baseProtos = base === undefined ? [] : await listProtos(base);
  if (base === undefined || baseProtos.length === 0) {
    return "no earlier protos to compare with";
  }
  if (!(await readFileAt(base, "buf.yaml")).includes("name:")) {
    return "the earlier module had no name, so nobody built against it";
  }
  await using folder = await mkdtempDisposable(join(tmpdir(), "runnel-breaking-"));
  const image = join(folder.path, "base.binpb");
  await extractFiles(base, [...baseProtos, "buf.yaml"], folder.path);
  await symlink(join(repositoryRoot, "third_party"), join(folder.path, "third_party"), "junction");
  // Only `proto`, because an image of the whole workspace cannot be compared with one of several modules.
  await runCommand("buf", ["build", join(folder.path, "proto"), "--output", image]);
  await runCommand("buf", ["breaking", "proto", "--against", image]);
  return `against ${base.slice(0, 12)}`;
}

/** Returns the commit to compare with. Returns undefined outside of git, before the second commit and in a clone of depth 1. */
async function findBase(): Promise<string | undefined> {
  const head = await readGit(["rev-parse", "--verify", "--quiet", "HEAD"]);
  if (head === undefined) {
    return undefined;
  }
  for (const reference of mainReferences) {
    const forkPoint = await readGit(["merge-base", "HEAD", reference]);
    if (forkPoint !== undefined && forkPoint !== head) {
      return forkPoint;
    }
  }
  return readGit(["rev-parse", "--verify", "--quiet", "HEAD~1"]);
}

async function listProtos(commit: string): Promise<string[]> {
  const listed = await runCommand("git", ["ls-tree", "-r", "--name-only", commit, "proto/"]);
  return listed.split("\n").filter((path) => path.endsWith(".proto"));
}

async function extractFiles(commit: string, paths: readonly string[], folder: string): Promise<void> {
  for (const path of paths) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, await readFileAt(commit, path));
  }
}

function readFileAt(commit: string, path: string): Promise<string> {
  return runCommand("git", ["show", `${commit}:${path}`]);
}

/** Returns undefined when git fails: the questions of this file have "no" as an answer. */
async function readGit(args: readonly string[]): Promise<string | undefined> {
  try {
    return (await runCommand("git", args)).trim();
  } catch {
    return undefined;
  }
}
