// Finds the entries of a log whose type or JSON has a text, as the log grows.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { typeName } from "../../../src/platform/run-view/entry.ts";
import { entryJson } from "./entry-json.ts";
import type { LogEntries } from "./log-entries.ts";

/** Searching these takes some milliseconds; then the page has its turn. */
const searchedAtOnce = 250;
const retryMs = 2_000;

/** A search of one log. An empty text finds nothing. */
export class EntrySearch {
  /** The sequences of the entries that have the text. */
  readonly found: number[] = [];
  readonly #entries: LogEntries;
  readonly #wanted: string;
  readonly #onFound: () => void;
  #searched = 0;
  #isSearching = false;
  #isStopped = false;

  constructor(entries: LogEntries, text: string, onFound: () => void) {
    this.#entries = entries;
    this.#wanted = text.trim().toLowerCase();
    this.#onFound = onFound;
  }

  /** False for an empty text, which every entry has. */
  get isOn(): boolean {
    return this.#wanted !== "";
  }

  /** Whether all entries so far are searched. */
  get isDone(): boolean {
    return !this.isOn || this.#searched >= this.#entries.count;
  }

  /** Searches the entries that have arrived. */
  advance(): void {
    if (!this.isDone && !this.#isSearching) {
      this.#isSearching = true;
      void this.#search().finally(() => {
        this.#isSearching = false;
        this.#onFound();
      });
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Returns the entries with the text as lines of JSON; without a text all entries. */
  async toLines(): Promise<string> {
    const lines: string[] = [];
    for await (const results of this.#entries.after(0)) {
      lines.push(...results.filter((entry) => this.#has(entry)).map((entry) => JSON.stringify(entryJson(entry))));
    }
    return `${lines.join("\n")}\n`;
  }

  async #search(): Promise<void> {
    try {
      for await (const results of this.#entries.after(this.#searched)) {
        for (let from = 0; from < results.length && !this.#isStopped; from += searchedAtOnce) {
          const part = results.slice(from, from + searchedAtOnce);
          this.found.push(...part.filter((entry) => this.#has(entry)).map(({ sequence }) => Number(sequence)));
          this.#searched += part.length;
          this.#onFound();
          await new Promise((resolve) => setTimeout(resolve));
        }
        if (this.#isStopped) {
          return;
        }
      }
    } catch {
      // The next rendering goes on.
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }

  #has(entry: RunResult): boolean {
    return `${typeName(entry)} ${JSON.stringify(entryJson(entry))}`.toLowerCase().includes(this.#wanted);
  }
}
