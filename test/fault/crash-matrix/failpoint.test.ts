// The failpoints: each is in the source once, and naming one kills at the right pass and does nothing else.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { failpoints as all } from "../../../src/app/protocols.ts";
import { failpoints } from "../../../src/platform/base/failpoint.ts";
import { readSourceFiles } from "../../architecture/source-file.ts";
import { until } from "../../harness/wait.ts";
import { isFrozen } from "./freeze.ts";

const source = join(import.meta.dirname, "../../../src");

/** Fewer would leave out a step of a run. */
const placesMin = 20;

test("every failpoint is passed at one line of the source, and no name is unused", async () => {
  const files = await readSourceFiles(source);
  const passed = files.flatMap(({ text }) =>
    Array.from(text.matchAll(/\bfailpoint\("([^"]*)"\)/g), ([, name]) => name),
  );
  expect(passed.length).toBeGreaterThanOrEqual(placesMin);
  expect(passed.sort()).toEqual(all.toSorted());
});

test.each([
  ["the place that is named kills at its first pass", "batch.sent", ["batch.sent"], ""],
  ["other places do nothing", "batch.sent", ["batch.inserting", "batch.answered", "batch.sent"], "ab"],
  [
    "a pass that is named kills only then",
    "batch.sent:3",
    ["batch.sent", "batch.sent", "batch.sent", "batch.sent"],
    "ab",
  ],
] as const)("%s", (_name, variable, places, printed) => {
  expect(pass(variable, places)).toMatchObject({ signal: "SIGKILL", stdout: printed, stderr: "" });
});

test("a failpoint with stop freezes the process, which continues from there", async () => {
  const program = programOf(["batch.sent", "batch.sent", "batch.sent"]);
  const child = spawn(process.execPath, program, { env: environmentOf("batch.sent:2:stop"), stdio: "pipe" });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  child.stdout.on("data", (text: Buffer) => {
    printed += text.toString();
  });
  await until("the process to freeze", () => isFrozen({ pid: child.pid ?? 0 }));
  await until("what it printed before", () => printed !== "");
  expect(printed).toBe("a");
  const ended = once(child, "close");
  child.kill("SIGCONT");
  expect(await ended).toEqual([0, null]);
  expect(printed).toBe("abc");
});

test("without the variable every failpoint does nothing", () => {
  expect(pass("", failpoints.slice(0, 3))).toMatchObject({ status: 0, signal: null, stdout: "abc" });
  expect(pass(undefined, failpoints.slice(0, 3))).toMatchObject({ status: 0, signal: null, stdout: "abc" });
});

test.each([
  "batchWriter.send",
  "batch.sent:",
  "batch.sent:0",
  "batch.sent:x",
  ":1",
  "batch.sent:stop",
  "batch.sent:1:go",
])("%s is refused, because it names no pass", (name) => {
  const { status, stdout, stderr } = pass(name, ["batch.sent"]);
  expect(status).not.toBe(0);
  expect(stdout).toBe("");
  expect(stderr).toContain(`RUNNEL_FAILPOINT is "${name}": use the name of a place`);
});

/** Runs a process that passes the failpoints one after the other and prints a letter after each. */
function pass(variable: string | undefined, places: readonly string[]): ReturnType<typeof spawnSync> {
  return spawnSync(process.execPath, programOf(places), { encoding: "utf8", env: environmentOf(variable) });
}

function programOf(places: readonly string[]): string[] {
  const steps = places.map((name, index) => `failpoint("${name}"); fs.writeSync(1, "${"abcdefgh"[index]}");`);
  const script = `import fs from "node:fs"; import { assertFailpoint, failpoint } from ${JSON.stringify(join(source, "platform/base/failpoint.ts"))};
    assertFailpoint(${JSON.stringify(all)});
    ${steps.join("\n")}`;
  return ["--input-type=module", "--eval", script];
}

function environmentOf(variable: string | undefined): Record<string, string | undefined> {
  return { PATH: process.env.PATH, ...(variable !== undefined && { RUNNEL_FAILPOINT: variable }) };
}
