// The entries of a log that a page keeps: the newest, and pages of older ones that a person looks at. The service has them all.
//
// E1  Of a log that can be read again, the page keeps at most `keptMax` of the newest entries, and `pagesMax` pages of whole ones.
// E2  `after` yields every entry, whole and in order, whether it is here or not.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";

/** Reads the whole entries after a sequence, in order, until its caller leaves. */
export type ReadEntries = (after: number) => AsyncIterable<readonly RunResult[]>;

/** All of most runs. An entry takes 400 bytes and its text. */
export const keptMax = 1_000;
/** So many entries are dropped at once: to drop one moves all others. */
const droppedAtOnce = 100;
/** Some screens. */
const pageLength = 250;
const pagesMax = 8;
const retryMs = 2_000;

export class LogEntries {
  /** The number of entries of the log so far. */
  count = 0;
  first: RunResult | undefined;
  readonly #read: ReadEntries | undefined;
  readonly #onPage: () => void;
  #newest: RunResult[] = [];
  /** The order of the map is the order of use. */
  readonly #pages = new Map<number, readonly RunResult[]>();
  #isLoading = false;

  /** Without `read`, all entries stay here. */
  constructor(read: ReadEntries | undefined, onPage: () => void) {
    this.#read = read;
    this.#onPage = onPage;
  }

  get last(): RunResult | undefined {
    return this.#newest.at(-1);
  }

  /** Adds the next entry. */
  push(entry: RunResult): void {
    this.count += 1;
    this.first ??= entry;
    this.#newest.push(entry);
    if (this.#read !== undefined && this.#newest.length >= keptMax) {
      this.#newest = this.#newest.slice(droppedAtOnce);
    }
  }

  /** Returns an entry; undefined while it is not here. It may lack the end of its text, as `bytesLeftOut` says. */
  at(sequence: number): RunResult | undefined {
    const newest = this.#newest[sequence - 1 - this.#dropped];
    return newest?.bytesLeftOut === 0
      ? newest
      : (this.#pages.get(pageOf(sequence))?.[(sequence - 1) % pageLength] ?? newest);
  }

  /** Brings the page with an entry. Of several that are asked for, one comes at a time: ask again when it is here. */
  load(sequence: number): void {
    if (this.#read === undefined || this.#isLoading || sequence > this.count) {
      return;
    }
    this.#isLoading = true;
    void this.#loadPage(this.#read, pageOf(sequence)).finally(() => {
      this.#isLoading = false;
      this.#onPage();
    });
  }

  /** Yields the entries after a sequence, up to the last one that the log has now. */
  async *after(sequence: number): AsyncGenerator<readonly RunResult[], void> {
    const end = this.count;
    const newest = this.#newest.slice(Math.max(0, sequence - this.#dropped));
    if (this.#read === undefined || (sequence >= this.#dropped && newest.every(isWhole))) {
      yield newest;
      return;
    }
    for await (const results of this.#read(sequence)) {
      yield results.filter((result) => Number(result.sequence) <= end);
      if (Number(results.at(-1)?.sequence ?? 0) >= end) {
        return;
      }
    }
  }

  get #dropped(): number {
    return this.count - this.#newest.length;
  }

  async #loadPage(read: ReadEntries, page: number): Promise<void> {
    const from = page * pageLength;
    const entries: RunResult[] = [];
    try {
      for await (const results of read(from)) {
        entries.push(...results);
        if (entries.length >= Math.min(pageLength, this.count - from)) {
          break;
        }
      }
    } catch {
      // The rows that miss their entries ask again.
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      return;
    }
    this.#pages.delete(page);
    this.#pages.set(page, entries.slice(0, pageLength));
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > pagesMax && oldest !== undefined) {
      this.#pages.delete(oldest);
    }
  }
}

function pageOf(sequence: number): number {
  return Math.floor((sequence - 1) / pageLength);
}

function isWhole({ bytesLeftOut }: RunResult): boolean {
  return bytesLeftOut === 0;
}
