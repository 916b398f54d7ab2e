// `npm run build` in clients/chat: builds the package @runnel/chat in its dist/. Each entry is one script that a page loads as it is,
// with the code of other packages in it. Works offline. `npm pack` there runs it first.

import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { listPackages } from "./build-program.ts";
import { repositoryRoot, runCommand } from "./run-command.ts";

const folder = join(repositoryRoot, "clients/chat");
const output = join(folder, "dist");

/** Writes the scripts, their types, and the licences of the packages within. */
export async function buildChat(): Promise<void> {
  await rm(output, { recursive: true, force: true });
  const types = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--outDir", output];
  await runCommand("tsc", ["--project", folder, ...types, "--rootDir", join(folder, "src")]);
  await using bundle = await rolldown({
    input: { index: join(folder, "src/index.ts"), react: join(folder, "src/react.ts") },
    external: ["react"],
    // The entry itself has the code, so that a page needs one file.
    preserveEntrySignatures: "allow-extension",
    platform: "browser",
    plugins: [listPackages()],
  });
  await bundle.write({ dir: output, minify: true });
  await cp(join(repositoryRoot, "LICENSE"), join(output, "LICENSE"));
}

if (import.meta.main) {
  await buildChat();
}
