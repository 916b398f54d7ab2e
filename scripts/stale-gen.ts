// Checks whether generated files equal the output of the protos, without changing them: generates a second time into a temporary
// folder and compares byte by byte.

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
  return await checkSameFiles(folder.path, "gen");
}

/** Compares a folder of the repository with the same one below `root`. Throws when they differ. */
export async function checkSameFiles(root: string, path: string): Promise<string> {
  const [wanted, found] = await Promise.all([readTree(join(root, path)), readTree(join(repositoryRoot, path))]);
  if (wanted.size === 0) {
    throw new Error("nothing was generated: are there protos in proto/?");
  }
  const names = new Set([...wanted.keys(), ...found.keys()]);
  const stale = [...names].filter((name) => !isSame(wanted.get(name), found.get(name))).sort();
  if (stale.length > 0) {
    const named = stale.slice(0, namedFilesMax).join("\n  ");
    throw new Error(
      `${path}/ is not what the protos generate; run \`npm run generate\` and commit the result.\n` +
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
