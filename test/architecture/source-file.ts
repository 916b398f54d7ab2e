// The source files as the rules see them: text, the same text without comments, and every import with its line.
// Read by regular expressions, because TypeScript 7 has no parser that a program could call.

import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export interface SourceFile {
  /** Relative to src/, with slashes: `runs/supervise.ts`. */
  readonly path: string;
  readonly text: string;
  /** The text with comments blanked; lines stay where they were. */
  readonly strings: string;
  /** The same with quoted strings blanked too. Template strings are kept. */
  readonly code: string;
  readonly imports: readonly Import[];
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** When the file is loaded: not for its types, with this one, or when the code calls `import("x")`. */
  readonly loads: "never" | "first" | "late";
}

/** Reads every TypeScript file below `root`, sorted by path. */
export async function readSourceFiles(root: string): Promise<SourceFile[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Promise.all(
    paths.map(async (path) => parseSourceFile(relative(root, path).split(sep).join("/"), await readFile(path, "utf8"))),
  );
}

export function parseSourceFile(path: string, text: string): SourceFile {
  const strings = text.replace(token, (match) => (isComment(match) ? blank(match) : match));
  const code = text.replace(token, (match) => (isComment(match) || isQuoted(match) ? blank(match) : match));
  return { path, text, strings, code, imports: findImports(strings) };
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** Texts that may look like code: strings, comments, and regular expressions, which may contain quotes. */
const token = new RegExp(
  [
    /"(?:\\.|[^"\\\n])*"/,
    /'(?:\\.|[^'\\\n])*'/,
    /`(?:\\.|[^`\\])*`/,
    /\/\/[^\n]*/,
    /\/\*[\s\S]*?\*\//,
    /(?<=[(,=:[!&|?{};]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//,
  ]
    .map((pattern) => pattern.source)
    .join("|"),
  "g",
);

/** `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`. */
const importPattern = /\b(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*\(?\s*"(?<specifier>[^"\n]+)"/g;

function findImports(text: string): Import[] {
  return [...text.matchAll(importPattern)].map((match) => ({
    specifier: match.groups?.specifier ?? "",
    line: lineAt(text, match.index),
    loads: /^\w+\s+type\b/.test(match[0]) ? "never" : match[0].includes("(") ? "late" : "first",
  }));
}

function isComment(match: string): boolean {
  return match.startsWith("//") || match.startsWith("/*");
}

function isQuoted(match: string): boolean {
  return match.startsWith('"') || match.startsWith("'");
}

function blank(match: string): string {
  return match.replace(/[^\n]/g, " ");
}
