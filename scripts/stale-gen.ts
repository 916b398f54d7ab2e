// Checks whether gen/ equals the output of the protos, without changing it: generates a second time into a temporary folder and
// compares byte by byte.

import { mkdtempDisposable, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { repositoryRoot, runCommand } from "./run-command.ts";

/** The maximum number of files in a message. A stale tree is usually stale as a whole, so a few names are enough. */
const namedFilesMax = 10;

/** Throws when gen/ lacks a file, has one too many, or differs in one. */
export async function checkGenIsFresh(): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "runnel-gen-"));
  await runCommand("buf", ["generate", "--output", folder.path]);
  const [wanted, found] = await Promise.all([
    readTree(join(folder.path, "gen")),
    readTree(join(repositoryRoot, "gen")),
  ]);
  if (wanted.size === 0) {
    throw new Error("nothing was generated: are there protos in proto/?");
  }
  const paths = new Set([...wanted.keys(), ...found.keys()]);
  const stale = [...paths].filter((path) => !isSame(wanted.get(path), found.get(path))).sort();
  if (stale.length > 0) {
    const named = stale.slice(0, namedFilesMax).join("\n  ");
    throw new Error(
      `gen/ is not what the protos generate; run \`npm run generate\` and commit the result.\n` +
        `${stale.length} files differ:\n  ${named}`,
    );
  }
  return `${wanted.size} files`;
}

async function readTree(root: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(emptyWhenMissing);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(files.map(async (file) => [relative(root, file), await readFile(file)] as const)));
}

function emptyWhenMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === "ENOENT") {
    return [];
  }
  throw error;
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one !== undefined && other !== undefined && one.equals(other);
}
