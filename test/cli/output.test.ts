// The output of commands: colours and progress lines for people at a terminal, plain text for pipes, JSON for machines.

import { expect, test } from "vitest";
import { mayColour } from "../../src/cli/output.ts";
import { runCommand, runInTerminal } from "./command.ts";

const colour = "\u001b[1m";
const eraseLine = "\r\u001b[K";
/** A command that needs no service and shows colours, and progress, where the output has them. */
const words = ["config", "explain"];
const doctor = ["doctor", "--port", "0"];

test("a terminal gets colours, and progress on one line that is erased", async () => {
  expect((await runInTerminal(words)).stdout).toContain(colour);
  const { stdout } = await runInTerminal(doctor);
  const lastProgress = stdout.lastIndexOf(eraseLine);
  expect(lastProgress).toBeGreaterThan(0);
  expect(stdout.slice(lastProgress)).toMatch(/✓.* node/);
  expect(stdout.slice(lastProgress)).not.toContain("looking at");
});

test.each([
  ["NO_COLOR", { NO_COLOR: "1" }, []],
  ["CI", { CI: "true" }, []],
  ["TERM=dumb", { TERM: "dumb" }, []],
  ["--no-color", {}, ["--no-color"]],
  ["--json", {}, ["--json"]],
] as const)("%s turns colours off on a terminal", async (_name, environment, flags) => {
  const { stdout } = await runInTerminal([...words, ...flags], { environment });
  expect(stdout).toMatch(/server\.port/);
  expect(stdout).not.toContain("\u001b");
});

test("a pipe gets neither colours nor moving lines; progress is lines on standard error", async () => {
  const { stdout, stderr } = await runCommand(doctor, { environment: { TERM: "xterm" } });
  expect(stdout + stderr).not.toContain("\u001b");
  expect(stdout + stderr).not.toContain("\r");
  expect(stderr).toMatch(/^(looking at [^\n]+ …\n){5,}$/);
  expect(stdout).toMatch(/^✓ node /);
});

test("--json may be at any position, gives one document and no progress", async () => {
  for (const line of [
    ["--json", ...doctor],
    [...doctor, "--json"],
  ]) {
    const { stdout, stderr } = await runCommand(line);
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^[^\n]+\n$/);
    expect(JSON.parse(stdout)).toHaveProperty("checks");
  }
});

test("colours are for a terminal, and every setting against them wins", () => {
  const terminal = { isTty: true, environment: { TERM: "xterm" } };
  expect(mayColour(terminal)).toBe(true);
  expect(mayColour({ ...terminal, environment: { NO_COLOR: "", CI: "" } })).toBe(true);
  expect(mayColour({ ...terminal, isTty: false })).toBe(false);
  expect(mayColour({ ...terminal, json: true })).toBe(false);
  expect(mayColour({ ...terminal, color: false })).toBe(false);
  for (const environment of [{ NO_COLOR: "0" }, { CI: "1" }, { TERM: "dumb" }]) {
    expect(mayColour({ ...terminal, environment })).toBe(false);
  }
});
