// Questions to a person at a terminal. A program is never asked: it could not answer.

import { createInterface } from "node:readline/promises";
import { makeVisible } from "./terminal.ts";

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
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  const answer = await Promise.race([asking.question(`${makeVisible(question)} `), ended]);
  asking.close();
  return /^y(es)?$/i.test(answer.trim()) ? "yes" : /^no?$/i.test(answer.trim()) ? "no" : "none";
}
