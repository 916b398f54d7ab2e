// Lets the TypeScript compiler decide whether bodies have the types of an SDK. Each body is a literal, so that a field that the type
// does not have is an error too.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repositoryRoot } from "../../../scripts/run-command.ts";
import { startProgram } from "../program.ts";

/** A body, and the name of the type that it must have. */
export interface TypedBody {
  readonly type: string;
  readonly json: string;
}

/**
 * Returns the errors of each body, each with the text at its place. `source` imports and declares the types; the packages are in the
 * folder.
 */
export async function checkTypes(
  folder: string,
  source: string,
  bodies: readonly TypedBody[],
): Promise<readonly (readonly string[])[]> {
  const lines = bodies.map(({ type, json }, place) => `export const body${place}: ${type} = ${literalOf(json)};`);
  const first = source.split("\n").length;
  await writeFile(join(folder, "bodies.ts"), [source, ...lines, ""].join("\n"));
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["bodies.ts"] }));
  const tsc = join(repositoryRoot, "node_modules/.bin/tsc");
  const program = startProgram(tsc, ["-p", folder, "--pretty", "false"], { directory: folder });
  const { stdout, exitCode, stderr } = await program.finished;
  const printed = stdout.toString();
  const errors = bodies.map((): string[] => []);
  for (const [, line, column, message] of printed.matchAll(/^bodies\.ts\((\d+),(\d+)\): error (.*(?:\n .*)*)/gm)) {
    const place = Number(line) - 1 - first;
    const text = lines[place]?.slice(Number(column) - 1, Number(column) - 1 + excerptChars);
    // An error outside of the bodies is one of the source.
    (errors[place] ?? fail(printed)).push(`${message} at ${text}`);
  }
  return exitCode === 0 || errors.some((each) => each.length > 0) ? errors : fail(printed + stderr);
}

const excerptChars = 100;

const compilerOptions = {
  target: "es2025",
  lib: ["es2025", "dom"],
  module: "nodenext",
  types: [],
  strict: true,
  noEmit: true,
  // The SDKs name types of packages that they do not need here.
  skipLibCheck: true,
};

/** JSON is TypeScript except for one name, which would set the prototype, and for line breaks, which the compiler would count. */
function literalOf(json: string): string {
  return json
    .replaceAll('"__proto__":', '["__proto__"]:')
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
}

function fail(printed: string): never {
  throw new Error(`the compiler checked nothing: ${printed}`);
}
