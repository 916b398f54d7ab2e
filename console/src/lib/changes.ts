// What changes of a client's things, from one stream for the page: the latest state of each thing by its id.

import { useEffect, useSyncExternalStore } from "react";
import { oncePerFrame } from "./frame-batch.ts";
import { follow, type StreamPhase } from "./stream.ts";

/** The changes that stay in memory; a list has older things from its pages. */
const keptMax = 2_000;

/** A watch of the contract. */
export interface Watch<Item, Response extends { readonly cursor: string }> {
  /** Opens the stream after a cursor. */
  readonly open: (after: string, signal: AbortSignal) => AsyncIterable<Response>;
  /** Returns undefined for a response that only keeps the stream alive. */
  readonly itemOf: (response: Response) => Item | undefined;
  readonly idOf: (item: Item) => string;
}

export class Changes<Item, Response extends { readonly cursor: string }> {
  /** The latest state of each thing that has changed, by its id. A new map for each change that components see. */
  items: ReadonlyMap<string, Item> = new Map();
  phase: StreamPhase = { name: "connecting" };

  readonly #watch: Watch<Item, Response>;
  readonly #next = new Map<string, Item>();
  #cursor = "";
  #version = 0;
  #readers = 0;
  #stop: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #notify = oncePerFrame(() => {
    this.items = new Map(this.#next);
    this.#version += 1;
    for (const listener of this.#listeners) {
      listener();
    }
  });

  constructor(watch: Watch<Item, Response>) {
    this.#watch = watch;
  }

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

  /** Drops everything, and follows the things of the new key. */
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
      open: (signal) => this.#watch.open(this.#cursor, signal),
      take: (response) => {
        this.#cursor = response.cursor === "" ? this.#cursor : response.cursor;
        const item = this.#watch.itemOf(response);
        if (item === undefined) {
          return undefined;
        }
        this.#put(item);
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

  #put(item: Item): void {
    const id = this.#watch.idOf(item);
    this.#next.delete(id);
    this.#next.set(id, item);
    const [oldest] = this.#next.keys();
    if (this.#next.size > keptMax && oldest !== undefined) {
      this.#next.delete(oldest);
    }
  }
}

/** Follows the changes while the component is shown. */
export function useChanges<Item, Response extends { readonly cursor: string }>(
  changes: Changes<Item, Response>,
): Changes<Item, Response> {
  useSyncExternalStore(changes.subscribe, changes.getVersion);
  useEffect(() => changes.retain(), [changes]);
  return changes;
}
