// Changes to the tree while a tool works on it: the acceptance cases under `races` (race-01 is in walk.test.ts) and some more.
// Nothing outside may change or show.

import { readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtinTools } from "../../src/agent/tools/builtin.ts";
import { editFile } from "../../src/agent/tools/edit-file.ts";
import { glob } from "../../src/agent/tools/glob.ts";
import { grep } from "../../src/agent/tools/grep.ts";
import { replaceFile } from "../../src/agent/tools/replace-file.ts";
import type { ToolOutcome } from "../../src/agent/tools/tool.ts";
import { FilePlace, openPlace } from "../../src/agent/tools/walk.ts";
import { writeFile } from "../../src/agent/tools/write-file.ts";
import { areaOfEachTest } from "./area.ts";
import { startSwapping } from "./swapping.ts";

const area = areaOfEachTest();
beforeEach(() => {
  writeFileSync(join(area.outside, "secret"), "SECRET");
});
afterEach(() => {
  const foreign = readdirSync(area.outside).map((name) => [name, readFileSync(join(area.outside, name), "utf8")]);
  expect(foreign).toEqual([["secret", "SECRET"]]);
});

const swapFile = `
  writeFileSync(root + "/next", "inside"); renameSync(root + "/next", root + "/r");
  symlinkSync(outside + "/secret", root + "/next"); renameSync(root + "/next", root + "/r");
`;

// A tool may have made the directory itself at a moment when it was missing.
const swapDirectory = `
  const attempt = (action) => { try { action(); } catch {} };
  attempt(() => renameSync(root + "/d", root + "/kept")); attempt(() => symlinkSync(outside, root + "/d"));
  attempt(() => rmSync(root + "/d", { recursive: true })); attempt(() => renameSync(root + "/kept", root + "/d"));
`;

// The file would pass a check of the path before the open, and the write would follow the link.
test("writing to a name that alternates between a file and a link to a secret never writes the secret", async () => {
  await using _swapper = await startSwapping(area, swapFile);
  await repeat(5_000, () => area.run(writeFile, { file_path: "r", content: "written" }));
});

test("writing below a directory that alternates with a link outside makes no file or directory outside", async () => {
  area.write("d/secret", "inside");
  await using _swapper = await startSwapping(area, swapDirectory);
  await repeat(1_000, () => area.run(writeFile, { file_path: "d/secret", content: "written" }));
  await repeat(1_000, () => area.run(writeFile, { file_path: "d/new/file", content: "written" }));
});

// race-03
test("editing a file that is swapped with a link to a secret never writes the secret", async () => {
  await using _swapper = await startSwapping(area, swapFile);
  await repeat(3_000, () => area.run(editFile, { file_path: "r", old_string: "inside", new_string: "inside" }));
});

// race-03 at the worst moment: the name becomes a link after the content was read and checked.
test("a link that takes the place of a file between read and write is replaced and not followed", async () => {
  area.write("f", "old");
  await using place = (await openPlace(area.context, "f", "edit")) as FilePlace;
  expect(place).toBeInstanceOf(FilePlace);
  unlinkSync(join(area.root, "f"));
  symlinkSync(join(area.outside, "secret"), join(area.root, "f"));
  await replaceFile(place, Buffer.from("new"), new AbortController().signal);
  expect(readFileSync(join(area.root, "f"), "utf8")).toBe("new");
});

test("a write follows a directory that is moved between the walk and the write", async () => {
  area.write("d/f", "old");
  await using place = (await openPlace(area.context, "d/f", "write")) as FilePlace;
  renameSync(join(area.root, "d"), join(area.root, "moved"));
  symlinkSync(area.outside, join(area.root, "d"));
  await replaceFile(place, Buffer.from("new"), new AbortController().signal);
  expect(readFileSync(join(area.root, "moved/f"), "utf8")).toBe("new");
});

test("searching a tree whose directories become links outside never finds files outside", async () => {
  area.write("d/secret", "inside");
  await using _swapper = await startSwapping(area, swapDirectory);
  await repeat(500, () => area.run(grep, { pattern: "SECRET|inside" }));
  writeFileSync(join(area.root, "kept-too"), "");
  await repeat(500, () => area.run(glob, { pattern: "**" }));
});

// race-05
test("no tool looks elsewhere after the work directory was moved away", async () => {
  renameSync(area.root, `${area.root}-moved`);
  const error = `work directory ${area.root} is not accessible: no such file or directory`;
  const args = { file_path: "package.json", path: "", pattern: "*", content: "x", old_string: "a", new_string: "b" };
  // These read no files.
  const others = ["bash", "set_state", "todo"];
  const tools = builtinTools.filter(({ name }) => !others.includes(name));
  for (const tool of tools) {
    expect([tool.name, await area.run(tool, args)]).toEqual([tool.name, { error }]);
  }
  expect(readdirSync(join(area.base, "area"))).toEqual(["s1-moved"]);
});

/** Calls `rounds` times; no outcome may show a secret or a panic. */
async function repeat(rounds: number, call: () => Promise<ToolOutcome>): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    expect(JSON.stringify(await call())).not.toMatch(/SECRET:|:SECRET|panic/);
  }
}
