// Builds the console: console/ with its packages becomes the files of console/dist, which the service serves as they are. They
// contain the code of packages, so they are not committed. `npm run build` makes them for the package and the image. In a checkout
// `runnel dev` runs this file when they are missing or older than their source.

import { existsSync } from "node:fs";
import { copyFile, mkdtempDisposable, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { build, type Plugin } from "vite";
import { listPackages } from "./build-program.ts";
import { repositoryRoot, runCommand } from "./run-command.ts";

const folder = join(repositoryRoot, "console/dist");

/** The explorer of the API: its files are copied, and `console/public/docs` starts it. */
const explorer = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
const explorerFiles = ["swagger-ui-bundle.js", "swagger-ui-bundle.js.LICENSE.txt"];
/** The policy of the page allows no images within styles. They are the arrows of fields and the sign of a copy button. */
const inlineImage = /url\((?:"data:(?:\\.|[^"\\])*"|'data:(?:\\.|[^'\\])*'|data:[^)]*)\)/g;

/**
 * The libraries are written for React's API. Preact has the same in a third of the bytes: with these lines removed, the console
 * is built on React.
 */
const preact = [
  { find: /^react\/jsx-runtime$/, replacement: "preact/jsx-runtime" },
  { find: /^react-dom\/client$/, replacement: "preact/compat/client" },
  { find: /^react(?:-dom)?$/, replacement: "preact/compat" },
  { find: /^use-sync-external-store\/shim\/index\.js$/, replacement: "preact/compat" },
];

const runService = "runnel/v1/run_service_pb.js";
/** Beside the files that it imports. */
const listCalls = "runnel/v1/list_calls_pb.js";

const shared = "shared";
/** A smaller file costs more in requests, and in its name in the first script, than the views that do not need all of it lose. */
const sharedMinBytes = 4_000;

/** Marks of React's libraries for servers of React's, and the time of plugins on a busy machine. */
const expected: ReadonlySet<string> = new Set(["MODULE_LEVEL_DIRECTIVE", "PLUGIN_TIMINGS"]);

/** Writes the console to console/dist, in place of the one there, which stays when the build fails. */
export async function buildConsole(): Promise<void> {
  // Tests set another value, and Vite would build for development.
  process.env.NODE_ENV = "production";
  // Below the packages that the generated code imports, and beside the old console, which serves until the new one is there.
  await using work = await mkdtempDisposable(join(repositoryRoot, "console/.build-"));
  const built = join(work.path, "dist");
  // The descriptors without the options that only servers need.
  for (const template of ["console/buf.gen.yaml", "console/buf.list.gen.yaml"]) {
    await runCommand("buf", ["generate", "--template", template, "--output", work.path]);
  }
  await copyFile(join(work.path, "list", runService), join(work.path, "gen", listCalls));
  await build({
    root: join(repositoryRoot, "console"),
    configFile: false,
    mode: "production",
    logLevel: "warn",
    base: "./",
    resolve: {
      alias: [
        ...preact,
        // The library for TypeScript, which checks receipts here too, reads the same descriptors.
        { find: /^(?:#gen|(?:\.\.\/)+gen)\/(?=runnel\/)/, replacement: `${work.path}/gen/` },
        { find: /^(?:\.\.\/)+(?=google\/api\/)/, replacement: join(repositoryRoot, "gen/") },
      ],
    },
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [
      binaryOnly(),
      listCallsOnly(join(work.path, "gen", listCalls)),
      decodedDescriptors(),
      listPackages([explorer]),
    ],
    build: {
      outDir: built,
      emptyOutDir: false,
      // The first of each with `light-dark()`, which the themes use.
      target: ["chrome123", "firefox120", "safari17.5"],
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        onLog: (level, log, report) => !expected.has(log.code ?? "") && report(level, log),
        output: {
          codeSplitting: {
            groups: [
              // What every page needs is one file: parts of it that views share would be compressed each by itself.
              { name: "first", tags: ["$initial"], priority: 1 },
              { name: shared, minShareCount: 2, entriesAware: true, entriesAwareMergeThreshold: sharedMinBytes },
            ],
          },
          // Else the name lists the views that share the file.
          chunkFileNames: ({ name }) => `assets/${name.startsWith(`${shared}~`) ? shared : name}-[hash].js`,
        },
      },
    },
  });
  await Promise.all(explorerFiles.map((file) => copyFile(join(explorer, file), join(built, "docs", file))));
  const styles = await readFile(join(explorer, "swagger-ui.css"), "utf8");
  await writeFile(join(built, "docs/swagger-ui.css"), styles.replaceAll(inlineImage, "none"));
  if (existsSync(folder)) {
    await rename(folder, join(work.path, "before"));
  }
  await rename(built, folder);
}

/** The console calls in binary, so the code that reads and writes JSON by descriptors is for the views that show JSON. */
function binaryOnly(): Plugin {
  const library = "@bufbuild/protobuf";
  const jsonFunctions = ["fromJson", "fromJsonString", "toJson", "toJsonString"];
  const refusals = jsonFunctions.map((name) => `export function ${name}() { throw new Error("calls are in binary"); }`);
  return {
    name: "binary-only",
    enforce: "pre",
    resolveId: (source, importer = "") =>
      source === library && importer.includes("/node_modules/@connectrpc/") ? "\0binary-only" : undefined,
    load: (id) => (id === "\0binary-only" ? [`export * from "${library}";`, ...refusals].join("\n") : undefined),
  };
}

/** The calls of the list of runs have a descriptor of their own, which is smaller. */
function listCallsOnly(descriptor: string): Plugin {
  return {
    name: "list-calls-only",
    enforce: "pre",
    resolveId: (source, importer = "") =>
      source.endsWith(`/gen/${runService}`) && importer.endsWith("/src/api/list-calls.ts") ? descriptor : undefined,
  };
}

/**
 * Generated code has its descriptors in base64, which a page would decode by the descriptor of descriptors before its first call.
 * These are decoded here: the page gets the objects.
 */
function decodedDescriptors(): Plugin {
  const descriptor = /\bfileDesc\("([^"]+)"/;
  return {
    name: "decoded-descriptors",
    load: (id) => (id.endsWith("/@bufbuild/protobuf/dist/esm/codegenv2/file.js") ? describeFile : undefined),
    transform: (code, id) =>
      id.endsWith("_pb.js")
        ? code.replace(descriptor, (_, base64: string) => `fileDesc(${writeDescriptor(Buffer.from(base64, "base64"))}`)
        : undefined,
  };
}

/** Takes the place of the library's function, which decodes. */
const describeFile = `
import { createEmbeddedFileRegistry } from "../registry.js";
import { restoreJsonNames } from "./restore-json-names.js";
export function fileDesc(file, imports = []) {
  file.messageType.forEach(restoreJsonNames);
  const proto = { ...file, $typeName: "google.protobuf.FileDescriptorProto", dependency: imports.map(({ proto }) => proto.name) };
  return createEmbeddedFileRegistry(proto, (name) => imports.find(({ proto }) => proto.name === name)).getFile(proto.name);
}`;

/** Returns the literal of a descriptor, without the types of its parts and the options that the page does not know. */
function writeDescriptor(bytes: Uint8Array): string {
  return JSON.stringify(fromBinary(FileDescriptorProtoSchema, bytes), (name, value) =>
    name.startsWith("$") ? undefined : value,
  );
}

if (import.meta.main) {
  await buildConsole();
}
