// The search behind the listing of a workspace: the files with their sizes.

import { type Clock, systemClock } from "../../../platform/base/clock.ts";
import { isLeftBehind } from "../replace-file.ts";
import type { FileListing, ListedFile, ListingSearch } from "./request.ts";
import { statFileIn, type TreeFile, visitFiles } from "./tree.ts";

/** The time limit. A local disk lists a million files in it, and a partial list is more useful than a failure. */
const secondsMax = 10;

/** Tools keep so many files there that they would leave no room for people's files. */
const skippedNames: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Returns the first files in path order that fit, and the number of the others. */
export function listFiles(search: ListingSearch, clock: Clock = systemClock): FileListing {
  const { root } = search;
  const tree = {
    directoryFd: root.fd,
    realPath: root.realPath,
    hidden: root.hidden,
    skippedNames,
    depthMax: Number.POSITIVE_INFINITY,
    inPathOrder: true,
  };
  const listed = new FirstFiles(search);
  const endMs = clock.monotonicMs() + secondsMax * 1_000;
  let late = false;
  const leftOut = visitFiles(tree, (file) => {
    if (!isLeftBehind(file.name)) {
      listed.add(file);
    }
    late = clock.monotonicMs() >= endMs;
    return !late;
  });
  const stopped = late ? `stopped after ${secondsMax} seconds` : undefined;
  return { files: listed.files, moreFiles: listed.moreFiles, leftOut: leftOut ?? stopped };
}

/** Keeps the first files that fit and only counts the others, without a system call. */
class FirstFiles {
  readonly files: ListedFile[] = [];
  moreFiles = 0;
  readonly #filesMax: number;
  #pathBytesLeft: number;

  constructor({ filesMax, pathBytesMax }: ListingSearch) {
    this.#filesMax = filesMax;
    this.#pathBytesLeft = pathBytesMax;
  }

  add(file: TreeFile): void {
    if (!this.#fits(file)) {
      this.moreFiles += 1;
      return;
    }
    const stat = statFileIn(file);
    if (stat !== undefined) {
      this.files.push({ path: file.path, bytes: stat.size });
      this.#pathBytesLeft -= Buffer.byteLength(file.path);
    }
  }

  // After the first file that does not fit, no other is added: the list is the beginning of the order.
  #fits({ path }: TreeFile): boolean {
    return this.moreFiles === 0 && this.files.length < this.#filesMax && Buffer.byteLength(path) <= this.#pathBytesLeft;
  }
}
