// Reads messages from a person at a terminal, with a history. Keeps the lines of a paste together, and lines that are typed ahead.

import { createInterface, type Interface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { markPastes, sayLine } from "../terminal.ts";
import { PasteInput, withLineEnds } from "./paste-input.ts";

const historyLinesMax = 200;

/** Asks for messages, one after the other. */
export class Prompt {
  #history: string[] = [];
  /** Lines that arrived with an earlier one. */
  readonly #ahead: string[] = [];
  /** The beginning of a line that arrived with an earlier one. */
  #begun = "";

  /** Returns what a person typed or pasted; undefined for Ctrl-D, a second Ctrl-C and the end of input. */
  async ask(): Promise<string | undefined> {
    const ahead = this.#ahead.shift();
    if (ahead !== undefined) {
      sayLine(`> ${ahead}`);
      return withLineEnds(ahead);
    }
    using input = new PasteInput(process.stdin);
    const reader = createInterface({
      ...{ input, output: process.stderr, terminal: true, prompt: "> " },
      ...{ history: this.#history, historySize: historyLinesMax, removeHistoryDuplicates: true },
    });
    const lines: string[] = [];
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    reader.on("history", (history) => {
      this.#history = history;
    });
    reader.on("line", (line) => {
      lines.push(line);
      resolve();
    });
    reader.on("close", resolve);
    leaveOnSecond(reader);
    markPastes(true);
    reader.prompt();
    reader.write(this.#begun);
    await ended;
    // Lines of the same piece of input follow at once.
    await setImmediate();
    this.#begun = reader.line;
    reader.close();
    markPastes(false);
    const [first, ...others] = lines;
    this.#ahead.push(...others);
    return first === undefined ? undefined : withLineEnds(first);
  }
}

/** Ctrl-C clears the line. On an empty line, the second one closes the reader. */
function leaveOnSecond(reader: Interface): void {
  let isWarned = false;
  reader.on("SIGINT", () => {
    if (reader.line !== "") {
      reader.write(null, { ctrl: true, name: "e" });
      reader.write(null, { ctrl: true, name: "u" });
    } else if (isWarned) {
      reader.close();
    } else {
      isWarned = true;
      sayLine("\nCtrl-C again, or Ctrl-D, leaves the conversation");
      reader.prompt();
    }
  });
}
