// Brings results that other replicas wrote to the readers of this one. One statement reads for all watched runs, however many
// readers they have. Wake-ups trigger a read, and a slow poll covers lost wake-ups. No reader polls for itself.

import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { Db } from "../../platform/database/database.ts";
import { findEndedRuns } from "../storage/run.ts";
import { readResultsOfRuns } from "../storage/run-result.ts";
import type { Broadcaster } from "./broadcaster.ts";
import { storedEntries } from "./result.ts";
import type { Wakeup } from "./wakeup.ts";

const pollMs = 2_000;
/**
 * The interval of the check for ended runs. A reader at or beyond the end of an ended run waits in vain: no result will wake
 * it. This is rare and delays only that reader.
 */
const endedCheckMs = 15_000;
const rowsPerRunMax = 500;

/** Reads new results of watched runs and publishes them to the broadcaster. */
export class Follower {
  readonly #db: Db;
  readonly #broadcaster: Broadcaster;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #stops: (() => void)[];
  readonly #loops: readonly Loop[];
  /** Runs to read with the next statement, and when this process first heard of news for them. */
  readonly #dirty = new Map<string, number>();
  #fetching: Promise<void> = Promise.resolve();
  #isFetching = false;
  #isClosing = false;

  constructor(options: {
    db: Db;
    broadcaster: Broadcaster;
    wakeup: Wakeup;
    clock: Clock;
    onError: (error: unknown) => void;
  }) {
    this.#db = options.db;
    this.#broadcaster = options.broadcaster;
    this.#clock = options.clock;
    this.#onError = options.onError;
    this.#stops = [
      options.wakeup.subscribe("result", ({ key, value, isOwn }) => {
        // The writer has published its results to the readers here; readers that came later have read them from the log.
        if (isOwn) {
          return;
        }
        const heard = options.broadcaster.heard(key);
        if (heard !== undefined && value > heard) {
          this.#fetch([key]);
        }
      }),
      options.wakeup.onGap(() => this.#fetchAll()),
    ];
    const { clock, onError } = options;
    const whileRead = { clock, waitsFirst: true, isIdle: () => this.#watched().length === 0, onError };
    this.#loops = [
      new Loop({ ...whileRead, everyMs: pollMs, pass: () => this.#fetchAll() }),
      new Loop({ ...whileRead, everyMs: endedCheckMs, pass: () => this.#tellEnded() }),
    ];
    for (const loop of this.#loops) {
      loop.open();
    }
    options.broadcaster.onReader(() => {
      for (const loop of this.#loops) {
        loop.resume();
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    for (const stop of this.#stops) {
      stop();
    }
    await Promise.all(this.#loops.map((loop) => loop.close()));
    await this.#fetching;
  }

  async #tellEnded(): Promise<void> {
    const watched = this.#watched();
    if (watched.length === 0 || this.#isClosing) {
      return;
    }
    const ended = await findEndedRuns(this.#db, watched);
    // Readers that only wait for a terminal result on its way get it like any other result.
    this.#fetch(ended);
    await this.#fetching;
    for (const runId of ended) {
      this.#broadcaster.lookAgain(runId);
    }
  }

  #watched(): string[] {
    return this.#broadcaster.cursors().map((cursor) => cursor.runId);
  }

  #fetchAll(): void {
    this.#fetch(this.#watched());
  }

  #fetch(runIds: readonly string[]): void {
    const nowMs = this.#clock.monotonicMs();
    for (const runId of runIds) {
      this.#dirty.set(runId, this.#dirty.get(runId) ?? nowMs);
    }
    if (this.#dirty.size > 0 && !this.#isFetching) {
      this.#fetching = this.#fetchDirty();
    }
  }

  async #fetchDirty(): Promise<void> {
    this.#isFetching = true;
    try {
      while (this.#dirty.size > 0 && !this.#isClosing) {
        const heardAtMs = new Map(this.#dirty);
        this.#dirty.clear();
        const cursors = this.#broadcaster.cursors().filter((cursor) => heardAtMs.has(cursor.runId));
        if (cursors.length > 0) {
          this.#publish(await this.#read(cursors), heardAtMs);
        }
      }
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#isFetching = false;
    }
  }

  async #read(cursors: readonly { runId: string; after: number }[]) {
    return Map.groupBy(await readResultsOfRuns(this.#db, { cursors, limitPerRun: rowsPerRunMax }), (row) => row.runId);
  }

  #publish(
    byRun: ReadonlyMap<string, { sequence: number; payload: Uint8Array }[]>,
    heardAtMs: ReadonlyMap<string, number>,
  ): void {
    for (const [runId, rows] of byRun) {
      failpoint("follow.fetched");
      try {
        this.#broadcaster.publish(runId, storedEntries(rows), heardAtMs.get(runId));
      } catch (error) {
        // A result that cannot be read: its readers get the error from the log, and other runs are not affected.
        this.#onError(error);
        continue;
      }
      if (rows.length === rowsPerRunMax) {
        this.#dirty.set(runId, this.#clock.monotonicMs());
      }
    }
  }
}
