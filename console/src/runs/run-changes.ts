// The runs of this client as they change, from one stream for the page.

import { createClient } from "@connectrpc/connect";
import { useEffect, useSyncExternalStore } from "react";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { transport } from "../api/transport.ts";
import { oncePerFrame } from "../lib/frame-batch.ts";
import { follow, type StreamPhase } from "../lib/stream.ts";

const service = createClient(RunService, transport);
/** The changes that stay in memory; a list has older runs from its pages. */
const keptMax = 2_000;

class RunChanges {
  /** The latest state of each run that has changed, by its id. A new map for each change that components see. */
  runs: ReadonlyMap<string, Run> = new Map();
  phase: StreamPhase = { name: "connecting" };

  readonly #next = new Map<string, Run>();
  #cursor = "";
  #version = 0;
  #readers = 0;
  #stop: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #notify = oncePerFrame(() => {
    this.runs = new Map(this.#next);
    this.#version += 1;
    for (const listener of this.#listeners) {
      listener();
    }
  });

  readonly getVersion = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows the stream until every caller has called the returned function. */
  retain(): () => void {
    this.#readers += 1;
    this.#stop ??= this.#follow();
    return () => {
      this.#readers -= 1;
      if (this.#readers === 0) {
        this.#stop?.();
        this.#stop = undefined;
      }
    };
  }

  /** Drops everything, and follows the runs of the new key. */
  forget(): void {
    this.#next.clear();
    this.#cursor = "";
    this.#notify();
    if (this.#stop !== undefined) {
      this.#stop();
      this.#stop = this.#follow();
    }
  }

  #follow(): () => void {
    return follow({
      open: (signal) => service.watchRuns({ after: this.#cursor }, { signal, timeoutMs: 0 }),
      take: ({ cursor, change }) => {
        this.#cursor = cursor === "" ? this.#cursor : cursor;
        if (change.case !== "run") {
          return undefined;
        }
        this.#put(change.value);
        this.#notify();
        return Date.now();
      },
      onPhase: (phase) => {
        this.phase = phase;
        this.#notify();
      },
      onResume: () => undefined,
    });
  }

  #put(run: Run): void {
    this.#next.delete(run.runId);
    this.#next.set(run.runId, run);
    const [oldest] = this.#next.keys();
    if (this.#next.size > keptMax && oldest !== undefined) {
      this.#next.delete(oldest);
    }
  }
}

/** The changes of this page. */
export const runChanges = new RunChanges();

/** Follows the changes while the component is shown. */
export function useRunChanges(): RunChanges {
  useSyncExternalStore(runChanges.subscribe, runChanges.getVersion);
  useEffect(() => runChanges.retain(), []);
  return runChanges;
}
