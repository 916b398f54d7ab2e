// The requests and outcomes that callers and search threads exchange.

import type { ToolOutcome } from "../tool.ts";

/** The start of a search. The descriptor stays open until the search has ended. */
export interface SearchRoot {
  readonly fd: number;
  readonly isDirectory: boolean;
  /** The path of the root in results. */
  readonly joinedPath: string;
  /** The absolute path without links. */
  readonly realPath: string;
  /** Paths that are skipped. */
  readonly hidden: readonly string[];
}

/** Searches files whose path, relative to the root, matches a glob pattern. */
export interface FileSearch {
  readonly kind: "files";
  readonly root: SearchRoot;
  readonly pattern: string;
}

/** Searches lines that match a regular expression, in files whose name matches a glob pattern. */
export interface LineSearch {
  readonly kind: "lines";
  readonly root: SearchRoot;
  readonly pattern: string;
  readonly include: string | undefined;
}

/** Lists all files below the root with their sizes, in byte order of their paths: the first ones that fit. */
export interface ListingSearch {
  readonly kind: "listing";
  readonly root: SearchRoot;
  /** The maximum number of files. */
  readonly filesMax: number;
  /** The maximum total size of the paths. */
  readonly pathBytesMax: number;
}

/** The files of a workspace. */
export interface FileListing {
  readonly files: readonly ListedFile[];
  /** The number of files after the listed ones. */
  readonly moreFiles: number;
  /** What was not visited; undefined when everything was. */
  readonly leftOut: string | undefined;
}

/** A file of a listing. */
export interface ListedFile {
  /** The path from the root. U+FFFD replaces bytes that are not UTF-8. */
  readonly path: string;
  readonly bytes: number;
}

/** A request to a search thread. */
export type SearchRequest = FileSearch | LineSearch | ListingSearch;
/** The answer of a search thread. */
export type SearchOutcome = ToolOutcome | FileListing;
/** The answer to a kind of request. */
export type OutcomeOf<Request extends SearchRequest> = Request extends ListingSearch ? FileListing : ToolOutcome;

/** The maximum size of a pattern. It exceeds any pattern written by hand, and compiles within milliseconds. */
const patternBytesMax = 4_096;

/** Returns why a pattern is refused, or undefined when it is short enough. */
export function refusePattern(pattern: string): string | undefined {
  const bytes = Buffer.byteLength(pattern);
  return bytes > patternBytesMax ? `pattern is too long (${bytes} bytes, max ${patternBytesMax})` : undefined;
}
