// `npm run build` in clients/typescript: builds the package @runnel/client in its dist/, with generated code of its own. Works
// offline. `npm pack` there runs it first.

import { cp, mkdtempDisposable, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { repositoryRoot, runCommand } from "./run-command.ts";

const folder = join(repositoryRoot, "clients/typescript");
const output = join(folder, "dist");

/** What the package does not offer: these services are for tools. */
const leftOut = ["grpc"];

/**
 * Builds the package. The sources name the generated code of the repository; the package has it in dist/gen, together with the
 * rules of buf.validate, so that it needs no package for them.
 */
export async function buildTypescriptClient(): Promise<void> {
  await using scratch = await mkdtempDisposable(join(folder, ".build-"));
  await runCommand("buf", ["generate", "--template", join(folder, "buf.gen.yaml"), "--output", scratch.path]);
  await runCommand("tsc", ["--project", join(folder, "tsconfig.json"), "--outDir", join(scratch.path, "out")]);
  await rm(output, { recursive: true, force: true });
  await cp(join(repositoryRoot, "LICENSE"), join(output, "LICENSE"));
  await cp(join(scratch.path, "out/clients/typescript/src"), join(output, "src"), { recursive: true });
  await cp(join(scratch.path, "gen"), join(output, "gen"), {
    recursive: true,
    filter: (path) => !leftOut.some((name) => path === join(scratch.path, "gen", name)),
  });
  await moveImports(join(output, "src"));
}

/** Lets the built files import the generated code of the package. */
async function moveImports(parent: string): Promise<void> {
  const entries = await readdir(parent, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = join(entry.parentPath, entry.name);
    const gen = relative(entry.parentPath, join(output, "gen"));
    const text = await readFile(file, "utf8");
    await writeFile(file, text.replaceAll(/"(?:\.\.\/)+gen\//g, `"${gen}/`));
  }
}

if (import.meta.main) {
  await buildTypescriptClient();
}
