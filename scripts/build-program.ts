// Bundles the program: src/main.ts with its packages in a few files, which Node loads several times as fast as the source.
// Nothing is minified. Source maps exist: with `node --enable-source-maps` stack traces name the files of src/. They are off by
// default, because the first trace takes 20 MB for good.

import { readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { repositoryRoot } from "./run-command.ts";

/**
 * Empties `folder`, writes the program there and returns the path of its `main.js`. The folder has to be inside the checkout:
 * the program reads package.json and migrations/ above it, and finds the embedded Postgres among the packages there.
 */
export async function buildProgram(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await using bundle = await rolldown({
    cwd: repositoryRoot,
    input: { main: "src/main.ts" },
    platform: "node",
    plugins: [bringFiles(), deferRules(), listPackages()],
  });
  await bundle.write({
    dir: folder,
    sourcemap: true,
    // Stack traces need positions only, and a service reads the map after each failure.
    sourcemapExcludeSources: true,
    // One character above U+00FF doubles the memory of a file's text, which Node keeps.
    charset: "ascii",
    comments: false,
  });
  return join(folder, "main.js");
}

/**
 * Writes which packages are in the program: their licences, whose texts have to go with them, and a CycloneDX document for programs
 * that look for known faults. `copied` are the folders of packages whose files are copied.
 */
export function listPackages(copied: readonly string[] = []): Plugin {
  const packageOf = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
  return {
    name: "list-packages",
    generateBundle() {
      const modules = [...this.getModuleIds()];
      const folders = new Set([...copied, ...modules.flatMap((id) => packageOf.exec(id)?.[1] ?? [])]);
      const packages = [...folders].sort().map(readPackage);
      const licenses = packages.map(printLicense).join("\n");
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENSES", source: licenses });
      this.emitFile({ type: "asset", fileName: "sbom.cdx.json", source: printSbom(packages) });
    },
  };
}

interface Package {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

function readPackage(folder: string): Package {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return { folder, name, version, license };
}

function printLicense({ folder, name, version, license }: Package): string {
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
  return [`${name} ${version} (${license})`, ...texts].join("\n\n");
}

/** Without a time and a serial number: the same source gives the same document. */
function printSbom(packages: readonly Package[]): string {
  const components = packages.map(({ name, version, license }) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return { type: "library", "bom-ref": purl, name, version, purl, licenses: [{ expression: license }] };
  });
  const { name, version } = readPackage(repositoryRoot);
  const metadata = { component: { type: "application", "bom-ref": name, name, version } };
  return JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata, components }, null, 1);
}

/** Bundles what the source names by `new URL("./…", import.meta.url)`: builds threads and programs, and copies other files. */
function bringFiles(): Plugin {
  const named = /new URL\("(\.{1,2}\/[^"]+)", import\.meta\.url\)/g;
  return {
    name: "bring-files",
    transform: {
      filter: { id: /\/src\/.*\.ts$/, code: "import.meta.url" },
      handler(code, id) {
        const moved = code.replace(named, (_, path: string) => {
          const file = resolve(dirname(id), path);
          const reference = file.endsWith(".ts")
            ? this.emitFile({ type: "chunk", id: file, name: basename(file, ".ts") })
            : this.emitFile({ type: "asset", name: basename(file), source: readFileSync(file) });
          return `new URL(import.meta.ROLLUP_FILE_URL_${reference})`;
        });
        // The transform keeps every line in its place, so it needs no map.
        return { code: moved, map: null };
      },
    },
  };
}

/**
 * Makes protovalidate compile a rule when a field needs it. As published, it compiles every rule that exists for the type of a field: a
 * tenth of what a start of the service computes. Native code checks most of them and needs none of that.
 */
function deferRules(): Plugin {
  const start = "compileRulesUncached(descMessage) {";
  const eager = "compiled: this.compileRule(rule),";
  const once = `
function once(compile) {
    const known = new Map();
    return (rule) => known.get(rule) ?? known.set(rule, compile(rule)).get(rule);
}`;
  let isDone = false;
  return {
    name: "defer-rules",
    transform: {
      filter: { id: /\/@bufbuild\/protovalidate\/.*\/cel\.js$/ },
      handler(code) {
        isDone = code.includes(start) && code.split(eager).length === 3;
        const compiling = code.replace(start, `${start} const compile = once((rule) => this.compileRule(rule));`);
        // Every line stays in its place, so it needs no map.
        return { code: compiling.replaceAll(eager, "get compiled() { return compile(rule); },") + once, map: null };
      },
    },
    buildEnd() {
      if (!isDone) {
        throw new Error("protovalidate compiles its rules in another way: see deferRules in scripts/build-program.ts");
      }
    },
  };
}
