// Arbitrary trees of directories, files and links of all kinds, and calls with arbitrary paths. Canaries lie beside the work
// directory; no call may show or change them.

import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import picomatch from "picomatch";
import { expect, test } from "vitest";
import { builtinTools } from "../../src/agent/tools/builtin.ts";
import { glob } from "../../src/agent/tools/glob.ts";
import { grep } from "../../src/agent/tools/grep.ts";
import { inTime } from "../harness/examples.ts";
import { Area } from "./area.ts";

type Step =
  | { readonly make: "directory"; readonly path: string }
  | { readonly make: "file"; readonly path: string; readonly content: string }
  | { readonly make: "link"; readonly path: string; readonly target: string };

const names = fc.constantFrom("a", "b", "c", ".d", "e.ts", "vendor");
const innerPath = fc.array(names, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
/** `BASE` is replaced by the directory that contains the work directory `area/s1` and `outside`. */
const anyPath = fc.oneof(
  { weight: 3, arbitrary: innerPath },
  fc
    .array(fc.oneof(names, fc.constantFrom("..", ".", "", "outside", "area", "s1", "s10")), {
      minLength: 1,
      maxLength: 6,
    })
    .map((parts) => parts.join("/")),
  fc
    .constantFrom("BASE/area/s1", "BASE/outside", "BASE", "/", "BASE/area/s10")
    .chain((start) => innerPath.map((rest) => `${start}/${rest}`)),
  fc.constantFrom("BASE/outside/canary", "BASE/area/s10/canary", "..", ".", "BASE/outside"),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ make: fc.constant("directory" as const), path: innerPath }),
  fc.record({ make: fc.constant("file" as const), path: innerPath, content: fc.constantFrom("one", "two\none\n", "") }),
  fc.record({ make: fc.constant("link" as const), path: innerPath, target: anyPath }),
);

const fileTools = builtinTools.filter((tool) => tool.name !== "bash");
const call = fc.record({
  tool: fc.constantFrom(...fileTools),
  path: anyPath,
  pattern: fc.oneof(fc.constantFrom("**", "*", "one|.", "", "{..,a}/**"), anyPath),
});

test("no call reads, writes or leaves open anything outside, in any tree", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(call, { maxLength: 12 }),
      inTime(20_000, async (steps, calls) => {
        using area = new Area();
        plantCanaries(area);
        for (const each of steps) {
          makeIn(area, each);
        }
        const before = readBeside(area);
        for (const { tool, path, pattern } of calls) {
          const place = expand(area, path);
          const args = {
            file_path: place,
            path: place,
            pattern: expand(area, pattern),
            content: "W",
            old_string: "n",
            new_string: "m",
          };
          const outcome = await area.run(tool, args);
          expect(JSON.stringify(outcome).replaceAll(/outside\/canary|s10\/canary/g, "")).not.toMatch(/CANARY|canary/);
        }
        expect(readBeside(area)).toEqual(before);
        expect(area.countDescriptors()).toBe(0);
        expect(listAll(area.root, "").join()).not.toContain(".runnel-");
      }),
    ),
    { numRuns: 150 },
  );
});

test("glob and grep find the same as a simple walk", async () => {
  const segment = fc.constantFrom("**", "*", "a", "{a,b}", "[!a]", "*.ts", "?");
  const pattern = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 15 }),
      pattern,
      inTime(20_000, async (steps, text) => {
        fc.pre(!text.endsWith("/**") && !text.startsWith("a/"));
        using area = new Area();
        for (const each of steps) {
          makeIn(area, each);
        }
        const files = walk(area.root, "");
        const matches = picomatch(text, { dot: true, posix: true });
        const matching = files.filter((path) => matches(path));
        const found = await area.run(glob, { pattern: text });
        expect(found).toEqual({
          content: matching.map((path) => join(area.root, path)).join("\n") || "No files found",
        });
        const lines = files.flatMap((path) =>
          readFileSync(join(area.root, path), "utf8")
            .split("\n")
            .flatMap((line, index) => (line === "one" ? [`${join(area.root, path)}:${index + 1}:one\n`] : [])),
        );
        expect(await area.run(grep, { pattern: "^one$" })).toEqual({ content: lines.join("") || "No matches found" });
      }),
    ),
    { numRuns: 150 },
  );
});

function expand(area: Area, path: string): string {
  return path.replace("BASE", area.base);
}

function plantCanaries(area: Area): void {
  mkdirSync(join(area.base, "area/s10"));
  mkdirSync(join(area.outside, "a"));
  for (const path of ["outside/canary", "outside/a/canary", "area/s10/canary", "canary"]) {
    writeFileSync(join(area.base, path), "CANARY one");
  }
}

/** Makes the entry unless another one has its path. Never follows a link: a test must not do what it forbids. */
function makeIn(area: Area, step: Step): void {
  const parts = step.path.split("/");
  for (let count = 1; count < parts.length; count += 1) {
    const path = join(area.root, ...parts.slice(0, count));
    if (!existsSync(path) && lstatSync(path, { throwIfNoEntry: false }) === undefined) {
      mkdirSync(path);
    }
    if (!lstatSync(path).isDirectory()) {
      return;
    }
  }
  const path = join(area.root, step.path);
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    return;
  }
  if (step.make === "directory") {
    mkdirSync(path);
  } else if (step.make === "file") {
    writeFileSync(path, step.content);
  } else {
    symlinkSync(expand(area, step.target) || ".", path);
  }
}

/** Everything except the work directory: names, kinds and contents. */
function readBeside(area: Area): string[] {
  return listAll(area.base, "")
    .filter((path) => !path.startsWith("area/s1/"))
    .map((path) => {
      const stat = lstatSync(join(area.base, path));
      return `${path} ${stat.mode} ${stat.isFile() ? readFileSync(join(area.base, path), "utf8") : ""}`;
    });
}

/** All entries. Node's own recursive listing would follow links, for instance to the root of the machine. */
function listAll(root: string, prefix: string): string[] {
  return readdirSync(join(root, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    return entry.isDirectory() ? [path, ...listAll(root, `${path}/`)] : [path];
  });
}

/** Regular files, sorted by name. */
function walk(root: string, prefix: string): string[] {
  return readdirSync(join(root, prefix), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.isFile()) {
        return [prefix + entry.name];
      }
      return entry.isDirectory() && entry.name !== "vendor" ? walk(root, `${prefix}${entry.name}/`) : [];
    });
}
