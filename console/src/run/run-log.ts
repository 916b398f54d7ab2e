// The log of one run, as this page has it.
//
// L1  The entry n is the nth that came: an entry that came before is dropped, and a gap opens the stream again.
// L2  The stream opens after the last entry, so a broken connection loses nothing and repeats nothing.
// L3  Components get one notification a frame, however many entries arrive.
// L4  The transcript and the waterfall are of all entries; of the entries themselves the newest are here. A text that came cut and is not
//     that of its pieces is read again.
// L5  The memory of a log that can be read again has a limit for each text that is being written, and for the waterfall.

import { Code, ConnectError } from "@connectrpc/connect";
import { useEffect, useSyncExternalStore } from "react";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { timeOf } from "../../../src/platform/run-view/entry.ts";
import { Transcript } from "../../../src/platform/run-view/transcript.ts";
import { oncePerFrame } from "../lib/frame-batch.ts";
import type { StreamPhase } from "../lib/stream.ts";
import { LogEntries, type ReadEntries } from "./log-entries.ts";
import { Timeline } from "./timeline.ts";

/** A page may hold three copies of a text that is being written, for hours. It reads a longer one again when it is complete. */
const liveCharsMax = 1_000_000;
/** Of a run that is over, a text stays as it is shown while its log arrives. */
const storedCharsMax = 6_000_000;

/** Brings the entries after the last one of a log, until the returned function is called. */
export type FollowEntries = (log: RunLog) => () => void;

/** Where the entries of a log come from. */
export interface EntrySource {
  readonly follow: FollowEntries;
  /** Unset where an entry comes once. */
  readonly read?: ReadEntries;
}

/** Follows a log while the component is shown, and renders again when the log changes. */
export function useLog(log: RunLog): RunLog {
  useSyncExternalStore(log.subscribe, log.getVersion);
  useEffect(() => log.retain(), [log]);
  return log;
}

/** The log of one run, with its transcript and its waterfall. */
export class RunLog {
  readonly runId: string;
  readonly entries: LogEntries;
  readonly transcript: Transcript;
  readonly timeline = new Timeline();
  phase: StreamPhase = { name: "connecting" };
  /** How often the stream was opened again. */
  resumed = 0;

  /** Renders the components again, in the next frame. */
  readonly notify = oncePerFrame(() => {
    this.#version += 1;
    for (const listener of this.#listeners) {
      listener();
    }
  });
  readonly #follow: FollowEntries;
  readonly #read: ReadEntries | undefined;
  #isFilling = false;
  #version = 0;
  #readers = 0;
  #stop: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(runId: string, { follow, read }: EntrySource) {
    this.runId = runId;
    this.#follow = follow;
    this.#read = read;
    this.entries = new LogEntries(read, this.notify);
    this.transcript = new Transcript(read === undefined ? undefined : storedCharsMax);
  }

  readonly getVersion = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The sequence of the last entry. */
  get cursor(): number {
    return this.entries.count;
  }

  get hasEnded(): boolean {
    const last = this.entries.last?.payload.case;
    return last === "runCompleted" || last === "runFailed";
  }

  /** Follows the stream until every caller has called the returned function. */
  retain(): () => void {
    this.#readers += 1;
    if (this.#stop === undefined && !this.hasEnded) {
      this.#stop = this.#follow(this);
    }
    void this.#fill();
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) {
        this.#stop?.();
        this.#stop = undefined;
      }
    };
  }

  /** Opens the stream again at once, if the log is shown and has not ended. */
  retry(): void {
    if (this.#stop !== undefined && !this.hasEnded) {
      this.#stop();
      this.#stop = this.#follow(this);
    }
  }

  /** Takes the next entries. Returns when the last one was made, in milliseconds, or undefined without entries. */
  take(results: readonly RunResult[]): number | undefined {
    for (const result of results) {
      this.#take(result);
    }
    void this.#fill();
    this.notify();
    const last = results.at(-1);
    return last && timeOf(last);
  }

  /** Limits the texts that are not complete: of a run that works, and of one that has ended without them. */
  limitTexts(): void {
    if (this.#read !== undefined) {
      this.transcript.limitTexts(liveCharsMax);
    }
  }

  setPhase(phase: StreamPhase): void {
    this.phase = phase;
    if (phase.name === "ended") {
      this.limitTexts();
    }
    this.notify();
  }

  /** Counts that the stream was opened again. */
  countResume(): void {
    this.resumed += 1;
  }

  #take(result: RunResult): void {
    const sequence = Number(result.sequence);
    if (sequence <= this.cursor) {
      return;
    }
    if (sequence > this.cursor + 1) {
      throw new ConnectError(`the stream skipped from ${this.cursor} to ${sequence}`, Code.DataLoss);
    }
    this.entries.push(result);
    this.transcript.add(result);
    this.timeline.add(result);
  }

  /** Reads the entries whose texts the transcript has the beginning of. After a failure the next entries, or the next reader, ask again. */
  async #fill(): Promise<void> {
    if (this.#isFilling || this.#read === undefined) {
      return;
    }
    this.#isFilling = true;
    try {
      for (const sequence of this.transcript.cut.keys()) {
        for await (const [entry] of this.#read(sequence - 1)) {
          if (entry !== undefined) {
            this.transcript.fill(entry);
            break;
          }
        }
        this.notify();
      }
    } catch {
      // The beginning of the text is shown.
    } finally {
      this.#isFilling = false;
    }
  }
}
