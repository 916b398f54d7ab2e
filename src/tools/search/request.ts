// What is searched, where, and what comes of it: what goes between the tools and the threads that search.

import type { ToolOutcome } from "../tool.ts";

/** Where a search starts. The descriptor stays open until the search has ended. */
export interface SearchRoot {
  readonly fd: number;
  readonly isDirectory: boolean;
  /** How results name it. */
  readonly joinedPath: string;
  /** Absolute, without links. */
  readonly realPath: string;
  /** What is passed over. */
  readonly hidden: readonly string[];
}

/** Files below the root whose path from there matches a glob pattern. */
export interface FileSearch {
  readonly kind: "files";
  readonly root: SearchRoot;
  readonly pattern: string;
}

/** Lines that match a regular expression, of files whose name matches a glob pattern. */
export interface LineSearch {
  readonly kind: "lines";
  readonly root: SearchRoot;
  readonly pattern: string;
  readonly include: string | undefined;
}

export type SearchRequest = FileSearch | LineSearch;
export type SearchOutcome = ToolOutcome;

/** More than anybody writes by hand, and compiled within milliseconds. */
const patternBytesMax = 4_096;

export function refusePattern(pattern: string): string | undefined {
  const bytes = Buffer.byteLength(pattern);
  return bytes > patternBytesMax ? `pattern is too long (${bytes} bytes, max ${patternBytesMax})` : undefined;
}
