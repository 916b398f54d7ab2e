// `completion`: the scripts know every command and option of the program, because they are made from it.

import { expect, test } from "vitest";
import { runCommand, runShell } from "./command.ts";

/** Returns the words that bash would offer for the last word of the line, one a line. */
async function complete(...line: string[]): Promise<string[]> {
  const words = ["runnel", ...line].map((word) => `'${word}'`).join(" ");
  const script = `source <($runnel completion bash); COMP_WORDS=(${words}); COMP_CWORD=${line.length}
    [[ $(complete -p runnel) == *'-F _runnel runnel' ]] && { _runnel; printf '%s\\n' "\${COMPREPLY[@]}"; }`;
  const { code, stdout, stderr } = await runShell(script);
  expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: "" });
  return stdout.trimEnd().split("\n");
}

test("bash completes commands, their subcommands, and their options", async () => {
  expect(await complete("do")).toEqual(["doctor"]);
  expect(await complete("keys", "cr")).toEqual(["create"]);
  expect(await complete("jobs", "sub")).toEqual(["submit"]);
  expect(await complete("jobs", "submit", "--id")).toEqual(["--idempotency-key"]);
  expect(await complete("verify", "--jw")).toEqual(["--jwks"]);
  expect(await complete("keys", "create", "--exp")).toEqual(["--expires"]);
  expect(await complete("--no-color", "tail", "--af")).toEqual(["--after"]);
  expect(await complete("run", "doctor", "--mo")).toEqual(["--model"]);
  expect(await complete("tail", "--mo")).toEqual([""]);
  expect(await complete("run", "hello", "--js")).toEqual(["--json"]);
});

test("bash offers no words of ours for the value of an option", async () => {
  expect(await complete("run", "hello", "--url", "")).toEqual([""]);
  expect(await complete("doctor", "--config", "--")).toEqual([""]);
});

/** Lists the commands of the help pages, which commander generates. */
async function listCommands(): Promise<string[]> {
  const { stdout } = await runCommand(["--help"]);
  const [, commands = ""] = stdout.split("Commands:");
  return [...commands.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = ""]) => name);
}

test.each(["bash", "zsh", "fish"])("the script of %s has every command and the options of each", async (shell) => {
  const { code, stdout, stderr } = await runCommand(["completion", shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const commands = await listCommands();
  expect(commands.length).toBeGreaterThan(10);
  for (const name of [...commands, "create", "explain", "expires", "work-dir", "no-color"]) {
    expect(stdout).toContain(name);
  }
});

test("--json wraps the script, and an unknown shell is refused with the list of known ones", async () => {
  const { stdout } = await runCommand(["completion", "fish", "--json"]);
  expect(JSON.parse(stdout)).toEqual({ shell: "fish", script: expect.stringContaining("complete -c runnel") });
  const { code, stderr } = await runCommand(["completion", "tcsh"]);
  expect(code).toBe(2);
  expect(stderr).toContain("bash, zsh, fish");
});
