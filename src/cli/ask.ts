// Questions to a person at a terminal. A program is never asked: it could not answer.

import { createInterface, type Interface } from "node:readline/promises";
import { Writable } from "node:stream";
import { makeVisible, sayLine } from "./terminal.ts";

/** Returns false when a program reads or writes, and with `--json`. */
export function mayAsk(asJson: boolean): boolean {
  return !asJson && process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Returns true for `y` or `yes`. The end of input means no. */
export async function askYesNo(question: string): Promise<boolean> {
  return (await askChoice(`${question} [y/N]`)) === "yes";
}

/** Returns what a person has typed: `none` for another word, an empty line, Ctrl-C and the end of input. */
export async function askChoice(question: string): Promise<"yes" | "no" | "none"> {
  const answer = (await askText(question)) ?? "";
  return /^y(es)?$/i.test(answer.trim()) ? "yes" : /^no?$/i.test(answer.trim()) ? "no" : "none";
}

/** Returns the line that a person has typed; undefined after Ctrl-C and at the end of input. */
export async function askText(question: string): Promise<string | undefined> {
  return await askLine(process.stderr, (asking) => asking.question(`${makeVisible(question)} `));
}

/** Returns the line that a person has typed, which does not appear on the terminal; undefined after Ctrl-C and at the end of input. */
export async function askSecret(question: string): Promise<string | undefined> {
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  return await askLine(hidden, (asking) => {
    sayLine(question);
    return asking.question("");
  });
}

/** The terminal stops its own echo before `ask` shows the question: a key that is pasted at once must not appear. */
async function askLine(output: Writable, ask: (asking: Interface) => Promise<string>): Promise<string | undefined> {
  const asking = createInterface({ input: process.stdin, output, terminal: true });
  const ended = new Promise<undefined>((resolve) => asking.once("close", () => resolve(undefined)));
  const answer = await Promise.race([ask(asking), ended]);
  asking.close();
  return answer;
}
