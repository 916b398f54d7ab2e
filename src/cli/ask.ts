// Questions to a person at a terminal. A program is never asked: it could not answer.

import { createInterface } from "node:readline/promises";
import { makeVisible } from "./terminal.ts";

/** Returns false when a program reads or writes, and with `--json`. */
export function mayAsk(asJson: boolean): boolean {
  return !asJson && process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Returns true for `y` or `yes`. The end of input means no. */
export async function askYesNo(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>((resolve) => asking.once("close", () => resolve("")));
  const answer = await Promise.race([asking.question(`${makeVisible(question)} [y/N] `), ended]);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}
