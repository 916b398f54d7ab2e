// Compares an exported log with the statement of its receipt, and finds the first bad entry.
//
// V1  Only stored bytes that the signed marks confirm count. Everything else on a line is only a claim.
// V2  The bad entry is named as exactly as the marks allow. In a log of up to 65,536 entries it is exact. In a longer log the
//     report names the first entry that no mark confirms and the entry at which the problem shows.

import { isDeepStrictEqual } from "node:util";
import { LogChain, startOfChain } from "../hash-chain/chain.ts";
import { readEntryType } from "../hash-chain/entry-type.ts";
import { decodeEntry, type LogLine, readEnd, readLogLine, readPlace } from "../hash-chain/log-line.ts";
import { markBytes, markOf } from "../hash-chain/marks.ts";
import type { Statement } from "./statement.ts";

/** The kind of a problem. */
export type LogProblem =
  | "changed"
  | "missing"
  | "out_of_order"
  | "surplus"
  | "ends_too_early"
  | "not_a_log_line"
  | "wrong_run"
  | "counts_differ"
  | "ends_otherwise";

/** Where a log is bad, and why. */
export interface BadEntry {
  /** The first entry that may be bad. Equal to `last` when the bad entry is known exactly. */
  readonly first: number;
  readonly last: number;
  readonly problem: LogProblem;
  /** One sentence for people. */
  readonly message: string;
}

/** The outcome of the comparison. */
export interface LogVerdict {
  /** Undefined when the log is the signed one. */
  readonly bad: BadEntry | undefined;
  /** The first hundred entries whose decoded form differs from their bytes. The decoded form is not signed. */
  readonly misquoted: readonly number[];
}

const misquotedMax = 100;

/** Verifies the lines of a log, in order. Empty lines are skipped. */
export async function verifyLog(statement: Statement, lines: AsyncIterable<string>): Promise<LogVerdict> {
  const check = new LogCheck(statement);
  const reading = nonEmpty(lines);
  try {
    for (let line = await reading.next(); !line.done; line = await reading.next()) {
      const trouble = check.take(readLogLine(line.value));
      if (trouble !== undefined) {
        const bad = await explain(trouble, check, reading);
        return { bad, misquoted: check.misquoted };
      }
    }
    return { bad: check.finish(), misquoted: check.misquoted };
  } finally {
    await reading.return(undefined);
  }
}

async function* nonEmpty(lines: AsyncIterable<string>): AsyncGenerator<string, undefined> {
  for await (const line of lines) {
    if (line.trim() !== "") {
      yield line;
    }
  }
}

/** A line that is not the next entry. */
interface Trouble {
  readonly line: LogLine | undefined;
  readonly isBorneOut: boolean;
}

class LogCheck {
  readonly statement: Statement;
  readonly misquoted: number[] = [];
  readonly #marks: Buffer;
  readonly #counts = new Map<string, number>();
  #chain: LogChain;
  /** The last entry that a mark confirms. */
  #proved = 0;
  #last: Uint8Array = new Uint8Array();

  constructor(statement: Statement) {
    this.statement = statement;
    this.#marks = Buffer.from(statement.marks, "base64");
    this.#chain = new LogChain(startOfChain(statement.run_id));
  }

  /** The sequence that the next line has to have. */
  get place(): number {
    return this.#chain.count + 1;
  }

  /** Checks the next line. Returns the trouble, and waits for the same entry; returns undefined when the line is right. */
  take(line: LogLine | undefined): Trouble | undefined {
    const { place } = this;
    if (line === undefined || place > this.statement.entries) {
      return { line, isBorneOut: false };
    }
    const chain = this.#with(line);
    const isBorneOut = !this.#isMarked || this.#fits(chain);
    if (!isBorneOut || line.sequence !== place) {
      return { line, isBorneOut };
    }
    this.#proved = this.#isMarked ? place : this.#proved;
    this.#chain = chain;
    this.#note(line);
    return undefined;
  }

  /** Returns whether a mark confirms these bytes as the next entry. */
  isNext(line: LogLine | undefined): boolean {
    return line !== undefined && this.place <= this.statement.entries && this.#isMarked && this.#fits(this.#with(line));
  }

  /** Checks the end of the log, after the last line. */
  finish(): BadEntry | undefined {
    const { entries, last_hash: lastHash, counts } = this.statement;
    if (this.place <= entries) {
      return this.bad("ends_too_early", `the log ends before entry ${this.place} of ${entries}`);
    }
    if (Buffer.from(this.#chain.value).toString("hex") !== lastHash) {
      return {
        first: 1,
        last: entries,
        problem: "changed",
        message: "the log as a whole differs from the signed one",
      };
    }
    return isDeepStrictEqual(Object.fromEntries(this.#counts), { ...counts })
      ? this.#finishEnd()
      : {
          first: 1,
          last: entries,
          problem: "counts_differ",
          message: "the statement's counts of types differ from the log",
        };
  }

  /** Compares the stated end with the logged one: a signer could state another end than the log has. */
  #finishEnd(): BadEntry | undefined {
    const { entries, status, code = "" } = this.statement;
    const end = readEnd(this.#last);
    // The log has the code alone: a runner may report `cancelled` without a request to cancel, and its run has then failed.
    const isFailedRunner = status === "failed" && end?.status === "cancelled";
    if (end?.code === code && (end.status === status || isFailedRunner)) {
      return undefined;
    }
    const logged = end === undefined ? "does not say how the run ended" : `says ${end.status} (${end.code})`;
    return {
      first: entries,
      last: entries,
      problem: "ends_otherwise",
      message: `the statement says ${status} (${code}); entry ${entries}, the last one, ${logged}`,
    };
  }

  bad(problem: LogProblem, message: string): BadEntry {
    return { first: Math.min(this.#proved + 1, this.place), last: this.place, problem, message };
  }

  get #isMarked(): boolean {
    const { entries, mark_interval: interval } = this.statement;
    return this.place % interval === 0 || this.place === entries;
  }

  #with({ bytes }: LogLine): LogChain {
    return this.#chain.with([{ sequence: this.place, bytes }]);
  }

  #fits(chain: LogChain): boolean {
    const start = (Math.ceil(chain.count / this.statement.mark_interval) - 1) * markBytes;
    return this.#marks.subarray(start, start + markBytes).equals(markOf(chain));
  }

  #note({ sequence, bytes, entry }: LogLine): void {
    this.#last = bytes;
    const type = readEntryType(bytes);
    this.#counts.set(type, (this.#counts.get(type) ?? 0) + 1);
    const isMisquoted = entry !== undefined && !isDeepStrictEqual(entry, decodeEntry(bytes));
    if (isMisquoted && this.misquoted.length < misquotedMax) {
      this.misquoted.push(sequence);
    }
  }
}

/** Explains a bad entry, as far as its line and the following lines show the reason. */
async function explain(
  { line, isBorneOut }: Trouble,
  check: LogCheck,
  rest: AsyncGenerator<string>,
): Promise<BadEntry> {
  const { place, statement } = check;
  const { run_id: runId, entries } = statement;
  if (place > entries) {
    return check.bad("surplus", `the log continues after entry ${entries}, the last one`);
  }
  if (line === undefined) {
    return check.bad(
      "not_a_log_line",
      `the line of entry ${place} is not a JSON object with sequence and bytes in base64`,
    );
  }
  const own = readPlace(line.bytes);
  if (own !== undefined && own.runId !== runId) {
    return check.bad("wrong_run", `the line of entry ${place} contains an entry of run ${own.runId || "(none)"}`);
  }
  if (own !== undefined && own.sequence < place) {
    return check.bad(
      "surplus",
      `the log has an extra entry before entry ${place}: it says that it is entry ${own.sequence}`,
    );
  }
  if (own !== undefined && own.sequence > place) {
    const isLater = await some(rest, (later) => readPlace(later.bytes)?.sequence === place);
    return isLater
      ? check.bad("out_of_order", `entry ${place} comes later: entry ${own.sequence} is in its place`)
      : check.bad("missing", `entry ${place} is missing: entry ${own.sequence} is in its place`);
  }
  if (isBorneOut) {
    return check.bad("changed", `the line of entry ${place} says that it is entry ${line.sequence}`);
  }
  const next = await rest.next();
  return next.done !== true && check.isNext(readLogLine(next.value))
    ? check.bad("surplus", `the log has an extra entry before entry ${place}: it was never logged`)
    : check.bad("changed", `entry ${place} differs from the logged one`);
}

async function some(lines: AsyncGenerator<string>, isWanted: (line: LogLine) => boolean): Promise<boolean> {
  for await (const text of lines) {
    const line = readLogLine(text);
    if (line !== undefined && isWanted(line)) {
      return true;
    }
  }
  return false;
}
