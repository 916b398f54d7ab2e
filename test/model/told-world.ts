// One run in memory from its first result to its purge, with those who announce its results and those who read them. The
// scheduler decides when each of them takes its next step.

import { setImmediate as turnOfLoop } from "node:timers/promises";
import type fc from "fast-check";
import { expect } from "vitest";
import { Broadcaster } from "../../src/engine/log/broadcaster.ts";
import { purgeResult } from "../../src/engine/log/purge-result.ts";
import { encodeResult, type LogEntry, type ResultInit, storedEntries } from "../../src/engine/log/result.ts";
import type { StoredResult } from "../../src/engine/storage/run-result.ts";
import type { Db } from "../../src/platform/database/database.ts";
import { text } from "../runlog/store.ts";
import { MemoryLog, openMemoryDb } from "./memory-log.ts";
import { range, SteppingReader } from "./stepping-reader.ts";

const runId = "0190b7c2-7b7f-7000-8000-000000000000";
const end: ResultInit = { payload: { case: "runCompleted", value: { finishReason: "stop" } } };

export interface Story {
  /** Batches in the order of their commits. A batch of another replica is announced here only after a fetch. */
  readonly batches: readonly { readonly rows: number; readonly isOurs: boolean }[];
  readonly readers: readonly { readonly after: number; readonly leaves: boolean; readonly room: number }[];
  readonly fetches: number;
  readonly gaps: number;
  readonly isPurged: boolean;
  /** False when the notification of the purge got lost in a gap. */
  readonly isPurgeHeard: boolean;
}

export class World {
  readonly broadcaster = new Broadcaster();
  readonly readers: SteppingReader[] = [];
  readonly #s: fc.Scheduler;
  readonly #story: Story;
  readonly #log = new MemoryLog();
  readonly #db: Db;
  readonly #batches: LogEntry[][];
  readonly #purged = new Map<number, Uint8Array>();
  #announcing: Promise<void> = Promise.resolve();
  #isForgotten = false;

  constructor(s: fc.Scheduler, told: Story) {
    this.#s = s;
    this.#story = told;
    this.#db = openMemoryDb(this.#log, (what) => this.#step(what));
    let sequence = 0;
    this.#batches = told.batches.map(({ rows }, index) =>
      Array.from({ length: rows }, (_, row) => {
        const isLast = index === told.batches.length - 1 && row === rows - 1;
        return encodeResult(isLast ? end : text(`word ${sequence}`), { runId, sequence: ++sequence, timeMs: 0 });
      }),
    );
  }

  get length(): number {
    return this.#batches.flat().length;
  }

  async play(): Promise<void> {
    void Promise.all([this.#write(), this.#fetch()]).then(() => this.#story.isPurged && this.#purge());
    this.#lose();
    this.#open();
    await this.#settle();
    // Results that existed when a reader opened come from the log, without any notification.
    for (const reader of this.readers.filter(({ hasLeft }) => !hasLeft)) {
      expect(reader.cursor).toBeGreaterThanOrEqual(reader.foundRows);
    }
    // A last fetch announces what other replicas wrote. No reader may depend on a clock of its own for that.
    this.#fetchAll();
    await this.#settle();
    // Only a reader whose position is beyond the end needs to hear that the run has ended meanwhile.
    for (const reader of this.readers) {
      expect(reader.isOver || reader.after >= this.length).toBe(true);
    }
    this.broadcaster.lookAgain(runId);
    await this.#settle();
  }

  /** Whether the log has this entry, as written or as purged. */
  knows({ sequence, bytes }: LogEntry): boolean {
    const written = this.#batches.flat()[sequence - 1]?.bytes;
    return [written, this.#purged.get(sequence)].some((known) => known !== undefined && same(known, bytes));
  }

  isPurged({ sequence, bytes }: LogEntry): boolean {
    const purged = this.#purged.get(sequence);
    return purged !== undefined && same(purged, bytes);
  }

  /** Commits follow one another; their results are announced in the same order, some time later. */
  async #write(): Promise<void> {
    await this.#s.scheduleSequence(
      this.#batches.map((entries, index) => ({
        label: `commit up to ${entries.at(-1)?.sequence}`,
        builder: async () => {
          this.#log.commit(entries);
          if (this.#story.batches[index]?.isOurs === true) {
            this.#announce(entries);
          }
        },
      })),
    ).task;
    await this.#announcing;
  }

  #announce(entries: readonly LogEntry[]): void {
    this.#announcing = this.#announcing
      .then(() => this.#step(`tell up to ${entries.at(-1)?.sequence}`))
      .then(() => this.broadcaster.publish(runId, entries));
  }

  /**
   * Purges one half after the other; then everything in memory is void. A purge happens long after the run, so all its
   * announcements have arrived.
   */
  #purge(): void {
    const middle = Math.ceil(this.length / 2);
    this.#s.scheduleSequence([
      { label: "purge the first half", builder: async () => this.#purgeRange(1, middle) },
      { label: "purge the second half", builder: async () => this.#purgeRange(middle + 1, this.length) },
      { label: "forget", builder: async () => this.#forget() },
    ]);
  }

  /** A replica that missed the notification of the purge knows that it may have missed something. */
  #forget(): void {
    if (this.#story.isPurgeHeard) {
      this.broadcaster.forget(runId);
    } else {
      this.broadcaster.emptyBuffers();
    }
    this.#isForgotten = true;
  }

  #purgeRange(first: number, last: number): void {
    for (const { sequence, payload } of this.#log.rows.slice(first - 1, last)) {
      const purged = purgeResult(payload) ?? payload;
      this.#purged.set(sequence, purged);
      this.#log.replace(sequence, purged);
    }
  }

  /** The follower reads what lies beyond the readers, and announces it when the answer has arrived. */
  async #fetch(): Promise<void> {
    await this.#s.scheduleSequence(
      range(1, this.#story.fetches).flatMap(() => {
        const rows: StoredResult[] = [];
        return [
          { label: "fetch", builder: async () => void rows.push(...this.#beyondReaders()) },
          { label: "tell what was fetched", builder: async () => this.broadcaster.publish(runId, storedEntries(rows)) },
        ];
      }),
    ).task;
  }

  #lose(): void {
    const gap = { label: "gap", builder: async () => this.broadcaster.emptyBuffers() };
    this.#s.scheduleSequence(range(1, this.#story.gaps).map(() => gap));
  }

  #fetchAll(): void {
    for (let rows = this.#beyondReaders(); rows.length > 0; rows = this.#beyondReaders()) {
      this.broadcaster.publish(runId, storedEntries(rows));
    }
  }

  #beyondReaders(): StoredResult[] {
    return this.broadcaster.cursors().flatMap(({ after }) => this.#log.after(after, 500));
  }

  #open(): void {
    for (const { after, leaves, room } of this.#story.readers) {
      this.#s.scheduleSequence([
        { label: `read after ${after}`, builder: async () => this.#read(after, room, leaves) },
      ]);
    }
  }

  /** A reader that leaves resumes at its cursor. */
  #read(after: number, room: number, leaves: boolean): void {
    const source = { db: this.#db, broadcaster: this.broadcaster };
    const reader = new SteppingReader(source, { runId, after, room }, (what) => this.#step(what));
    reader.isAfterPurge = this.#isForgotten;
    reader.foundRows = this.#log.rows.length;
    this.readers.push(reader);
    if (leaves) {
      void this.#step("leave").then(() => {
        if (!reader.isOver) {
          reader.leave();
          this.#read(reader.cursor, room, false);
        }
      });
    }
  }

  async #step(what: string): Promise<void> {
    await this.#s.schedule(Promise.resolve(), what);
  }

  async #settle(): Promise<void> {
    await turnOfLoop();
    await this.#s.waitIdle();
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
