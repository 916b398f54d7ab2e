// The search for a listing: all files with their sizes, sorted by their whole paths, up to the requested maximum.

import { execFileSync } from "node:child_process";
import { closeSync, linkSync, mkdirSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listFiles } from "../../src/agent/tools/search/list-files.ts";
import type { FileListing } from "../../src/agent/tools/search/request.ts";
import { search } from "../../src/agent/tools/search/threads.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { areaOfEachTest } from "./area.ts";

const area = areaOfEachTest();

interface Limits {
  readonly filesMax?: number;
  readonly pathBytesMax?: number;
  readonly hidden?: readonly string[];
}

function list(limits: Limits = {}, clock = systemClock): FileListing {
  const fd = openSync(area.root, "r");
  try {
    return listFiles(requestFor(fd, limits), clock);
  } finally {
    closeSync(fd);
  }
}

function requestFor(fd: number, { filesMax = 100, pathBytesMax = 10_000, hidden = [] }: Limits) {
  const root = { fd, isDirectory: true, joinedPath: area.root, realPath: area.root, hidden };
  return { kind: "listing", root, filesMax, pathBytesMax } as const;
}

const pathsOf = ({ files }: FileListing): string[] => files.map(({ path }) => path);

test("a listing is sorted by whole paths, by code points", () => {
  // In UTF-16 the astral character (D83D …) would sort before U+FF5E; names alone would put a/z before a-b and a.ts.
  const inOrder = ["Z", "a", "a-b/c", "a.ts", "a/b", "a/z/y", "a0", "\u00e4", "\uff5e", "\u{1f600}", "\u{1f600}/x"];
  const files = inOrder.filter((path) => path !== "a" && path !== "\u{1f600}");
  for (const path of files.toReversed()) {
    area.write(path, path);
  }
  expect(list()).toEqual({
    files: files.map((path) => ({ path, bytes: Buffer.byteLength(path) })),
    moreFiles: 0,
    leftOut: undefined,
  });
});

test("a listing has no link, pipe, hidden or sensitive file, and nothing from the tools' own directories", () => {
  for (const path of [
    ".git/config",
    "a/node_modules/b.js",
    ".github/x",
    "x",
    ".ssh/id",
    ".aws/credentials",
    "service/db",
  ]) {
    area.write(path, "12345");
  }
  linkSync(join(area.root, "x"), join(area.root, "twin"));
  symlinkSync("x", join(area.root, "link"));
  symlinkSync("..", join(area.root, "up"));
  execFileSync("mkfifo", [join(area.root, "pipe")]);
  mkdirSync(join(area.root, "empty"));
  expect(pathsOf(list({ hidden: [join(area.root, "service")] }))).toEqual([".github/x", "twin", "x"]);
});

test("a partial file of a killed process is not listed, and a file that only looks like one is", () => {
  area.write("a/.runnel-0123456789abcdef", "half");
  area.write(".runnel-notes", "whole");
  expect(pathsOf(list())).toEqual([".runnel-notes"]);
});

test("names that are not UTF-8 are listed, and so are the contents of directories with such names", () => {
  const bad = (name: string): Buffer => Buffer.from(join(area.root, name), "latin1");
  mkdirSync(bad("d\xff"));
  writeFileSync(bad("d\xff/\xfe.txt"), "1");
  writeFileSync(bad("z\xe9"), "22");
  expect(list().files).toEqual([
    { path: "d\ufffd/\ufffd.txt", bytes: 1 },
    { path: "z\ufffd", bytes: 2 },
  ]);
});

test("the first files are listed and the others counted, by number and by the bytes of their paths", () => {
  for (const path of ["a", "bb/bb", "c", "d"]) {
    area.write(path, "");
  }
  const beginning = { files: [{ path: "a", bytes: 0 }], moreFiles: 3, leftOut: undefined };
  expect(list({ filesMax: 1 })).toEqual(beginning);
  // c would fit, but bb/bb comes before it.
  expect(list({ pathBytesMax: 5 })).toEqual(beginning);
  expect(pathsOf(list({ pathBytesMax: 6 }))).toEqual(["a", "bb/bb"]);
  expect(list({ filesMax: 4, pathBytesMax: 8 }).moreFiles).toBe(0);
});

test("a listing that takes too long ends with the files so far and says so", () => {
  for (const path of ["a", "b", "c", "d"]) {
    area.write(path, "");
  }
  let timeMs = 0;
  const clock = {
    ...systemClock,
    monotonicMs: () => {
      timeMs += 4_000;
      return timeMs;
    },
  };
  expect(list({}, clock)).toEqual({
    files: [
      { path: "a", bytes: 0 },
      { path: "b", bytes: 0 },
      { path: "c", bytes: 0 },
    ],
    moreFiles: 0,
    leftOut: "stopped after 10 seconds",
  });
});

test("a listing runs in a thread and ends with its signal", async () => {
  area.write("a", "1");
  const fd = openSync(area.root, "r");
  try {
    const request = requestFor(fd, {});
    const listing = await search(request, "local", new AbortController().signal);
    expect(listing).toEqual({ files: [{ path: "a", bytes: 1 }], moreFiles: 0, leftOut: undefined });
    await expect(search(request, "local", AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  } finally {
    closeSync(fd);
  }
});
