// The working directory of an exchange, as its person sees it.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openFolder } from "../fixtures.ts";
import { filesBelow } from "./execute/stage.ts";

export interface Workspace {
  readonly path: string;
  /** Returns its files with their contents. */
  readonly read: () => Record<string, string>;
}

export async function openWorkspace(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const path = await openFolder();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), content);
  }
  return { path, read: () => filesBelow(path) };
}
