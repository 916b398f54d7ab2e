// The log of one run, as this page has it.
//
// L1  `entries[n]` has the sequence n + 1: an entry that came before is dropped, and a gap opens the stream again.
// L2  The stream opens after the last entry, so nothing is lost or shown twice, whatever happened to the connection.
// L3  Components get one notification a frame, however many entries arrive.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { useEffect, useSyncExternalStore } from "react";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { probe } from "../api/service-state.ts";
import { transport } from "../api/transport.ts";
import { oncePerFrame } from "../lib/frame-batch.ts";
import { follow, type StreamPhase } from "../lib/stream.ts";
import { Timeline } from "./timeline.ts";
import { Transcript, timeOf } from "./transcript.ts";

const runs = createClient(RunService, transport);
/** Logs that stay in memory after their view is closed: going back shows them at once. */
const keptMax = 5;
const kept = new Map<string, RunLog>();

/** Returns the log of a run, which is followed while the component is shown. Renders again when it changes. */
export function useRunLog(runId: string): RunLog {
  const log = logOf(runId);
  useSyncExternalStore(log.subscribe, log.getVersion);
  useEffect(() => log.retain(), [log]);
  return log;
}

/** Forgets all logs: another client must not see them. */
export function forgetLogs(): void {
  kept.clear();
}

/** The log of one run with what is made of it. */
export class RunLog {
  readonly runId: string;
  readonly entries: RunResult[] = [];
  readonly transcript = new Transcript();
  readonly timeline = new Timeline();
  phase: StreamPhase = { name: "connecting" };
  /** How often the stream was opened again. */
  resumed = 0;

  #version = 0;
  #readers = 0;
  #stop: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #notify = oncePerFrame(() => {
    this.#version += 1;
    for (const listener of this.#listeners) {
      listener();
    }
  });

  constructor(runId: string) {
    this.runId = runId;
  }

  readonly getVersion = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** The sequence of the last entry. */
  get cursor(): number {
    return this.entries.length;
  }

  get hasEnded(): boolean {
    const last = this.entries.at(-1)?.payload.case;
    return last === "runCompleted" || last === "runFailed";
  }

  /** Follows the stream until every caller has called the returned function. */
  retain(): () => void {
    this.#readers += 1;
    if (this.#stop === undefined && !this.hasEnded) {
      this.#stop = this.#follow();
    }
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) {
        this.#stop?.();
        this.#stop = undefined;
      }
    };
  }

  /** Opens the stream again at once. */
  retry(): void {
    this.#stop?.();
    this.#stop = this.#follow();
  }

  #follow(): () => void {
    return follow({
      open: (signal) => runs.tailRun({ runId: this.runId, after: BigInt(this.cursor) }, { signal, timeoutMs: 0 }),
      take: ({ results }) => {
        for (const result of results) {
          this.#take(result);
        }
        this.#notify();
        const last = results.at(-1);
        return last && timeOf(last);
      },
      onPhase: (phase) => {
        this.phase = phase;
        if (phase.name === "reconnecting") {
          void probe();
        }
        this.#notify();
      },
      onResume: () => {
        this.resumed += 1;
      },
    });
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
}

function logOf(runId: string): RunLog {
  const log = kept.get(runId) ?? new RunLog(runId);
  // The order of the map is the order of use.
  kept.delete(runId);
  kept.set(runId, log);
  for (const oldest of kept.keys()) {
    if (kept.size <= keptMax) {
      break;
    }
    kept.delete(oldest);
  }
  return log;
}
