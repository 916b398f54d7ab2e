// What is searched, where, and what comes of it: what goes between those who ask and the threads that search.

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

/** All files below the root with their sizes, in the order of their paths, byte by byte: the first ones, as many as fit. */
export interface ListingSearch {
  readonly kind: "listing";
  readonly root: SearchRoot;
  /** Most files to list. */
  readonly filesMax: number;
  /** Most bytes of all their paths together. */
  readonly pathBytesMax: number;
}

export interface FileListing {
  readonly files: readonly ListedFile[];
  /** How many files come after those. */
  readonly moreFiles: number;
  /** What was not even looked at, if anything. */
  readonly leftOut: string | undefined;
}

export interface ListedFile {
  /** From the root. U+FFFD stands for what is not UTF-8. */
  readonly path: string;
  readonly bytes: number;
}

export type SearchRequest = FileSearch | LineSearch | ListingSearch;
export type SearchOutcome = ToolOutcome | FileListing;
export type OutcomeOf<Request extends SearchRequest> = Request extends ListingSearch ? FileListing : ToolOutcome;

/** More than anybody writes by hand, and compiled within milliseconds. */
const patternBytesMax = 4_096;

export function refusePattern(pattern: string): string | undefined {
  const bytes = Buffer.byteLength(pattern);
  return bytes > patternBytesMax ? `pattern is too long (${bytes} bytes, max ${patternBytesMax})` : undefined;
}
