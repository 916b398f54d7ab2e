// What reaches a terminal from texts of others: models, tools, services, ids. A pipe gets them unchanged.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { forPeople, forPrograms, makeVisible, markOwn } from "../../src/cli/terminal.ts";
import { answer, callTools } from "../fakes/provider.ts";
import { programPath } from "../harness/program.ts";
import { until } from "../harness/wait.ts";
import { ownFolder, runCommand, runInTerminal, startInTerminal, startWithProvider } from "./command.ts";

const attacks = {
  "a colour that hides": "\u001b[8mhidden\u001b[0m",
  "a title": "\u001b]0;title\u0007",
  "a link": "\u001b]8;;https://evil.example\u001b\\here\u001b]8;;\u001b\\",
  "a clipboard": "\u001b]52;c;cm0gLXJm\u0007",
  "a device query": "\u001b[6n\u001bP+q544e\u001b\\",
  "C1 controls": "\u009b31m\u009d0;title\u009c\u0090q\u009c",
  "a line that is written over": "rm -rf /\rls\u0008\u0008",
  "a screen that is cleared": "\u001bc\u001b[2J\u000c",
  "text in another order": "user\u202e\u2066// admin\u2069\u202c",
};
const harmless = "line\n\ttab 中文 ｗｉｄｅ 👩‍👩‍👧‍👦 🇨🇭 ❤️ עברית é";
const text = `${Object.values(attacks).join("|")}|${harmless}`;
/** Every C0 character but newline, tab and the CR of the terminal's own line ends; DEL, C1 and characters that reorder text. */
const acting = /\r(?!\n)|[\u202a-\u202e\u2066-\u2069]|(?![\r\n\t])\p{Cc}/u;
/** The colours that the command line itself prints. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const ownColours = /\u001b\[\d+m/g;

test.each(Object.entries(attacks))("%s is shown as text and has no effect", (_name, attack) => {
  expect(makeVisible(attack)).not.toMatch(acting);
  expect(makeVisible(attack).length).toBeGreaterThanOrEqual(attack.length);
});

test("newlines, tabs, joined, wide and right-to-left characters are unchanged", () => {
  expect(makeVisible(harmless)).toBe(harmless);
  expect(makeVisible("a\r\nb")).toBe("a\nb");
});

test("own colours reach a terminal, foreign ones do not, and a pipe gets both", () => {
  const mixed = `${markOwn("\u001b[1mown\u001b[22m")} \u001b[1mother`;
  expect(forPeople(mixed, { isTTY: true })).toBe("\u001b[1mown\u001b[22m ␛[1mother");
  expect(forPeople(mixed, {})).toBe("\u001b[1mown\u001b[22m \u001b[1mother");
});

test("JSON on a terminal is the same value without control characters", () => {
  const json = JSON.stringify({ [text]: [text] });
  expect(forPrograms(json, {})).toBe(json);
  expect(forPrograms(json, { isTTY: true })).not.toMatch(acting);
  expect(JSON.parse(forPrograms(json, { isTTY: true }))).toEqual({ [text]: [text] });
});

test("the output of a model that attacks the terminal is shown as text there, and is exact in a pipe and as JSON", async () => {
  const { provider, url } = await startWithProvider();
  const path = await ownFolder();
  await writeFile(join(path, "notes.txt"), text);
  const asks = [
    { id: "call-1", name: "read_file", arguments: JSON.stringify({ path: "notes.txt" }) },
    { id: "call-2", name: "read_file", arguments: JSON.stringify({ path: text }) },
  ];
  const round = [callTools(...asks), answer(text)];
  provider.respond(...round, ...round, ...round);
  const words = ["run", "go", "--model", "gpt-4o", "--work-dir", path, "--url", url];

  const shown = await runInTerminal(words);
  expect(shown.code).toBe(0);
  expect(shown.stdout.replaceAll(ownColours, "")).not.toMatch(acting);
  for (const sign of ["␛[8mhidden", "␛]0;title␇", "\\u009b31m", "rm -rf /␍ls␈", "user\\u202e", "中文", "👩‍👩‍👧‍👦"]) {
    expect(shown.stdout).toContain(sign);
  }

  const piped = await runCommand(words);
  expect(piped.code).toBe(0);
  expect(piped.stdout).toContain(text);

  const asJson = await runInTerminal([...words, "--json"]);
  expect(asJson.code).toBe(0);
  expect(asJson.stdout).not.toMatch(acting);
  const results = asJson.stdout.split("\r\n").filter((line) => line.startsWith("{"));
  const isExact = (line: string): boolean =>
    JSON.stringify(JSON.parse(line)).includes(JSON.stringify(text).slice(1, -1));
  expect(results.some(isExact)).toBe(true);
});

test("an id in a question is shown as text", async () => {
  const purge = startInTerminal([process.execPath, programPath, "sessions", "purge", text]);
  await until("the question", () => purge.stdout().includes("[y/N]"));
  purge.type("n\r");
  const { code, stdout } = await purge.ended;
  expect(code).toBe(1);
  expect(stdout).toContain("␛[8mhidden");
  expect(stdout).not.toContain("\u001b[8m");
});

test.each([
  ["an unknown command", [text]],
  ["an option that is unknown", ["serve", `--${text}`]],
  ["a file in a failure", ["sign", text, "--key", text]],
])("%s has no effect on a terminal", async (_name, words) => {
  const { stdout } = await runInTerminal([...words], { environment: { RUNNEL_SERVER_PORT: "1" } });
  expect(stdout.replaceAll(ownColours, "")).not.toMatch(acting);
  expect(stdout).toContain("␛[8mhidden");
});
