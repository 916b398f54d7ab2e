// The lists of tools that servers let a client keep (`ttlMs`, revision 2026-07-28, "Caching"): in memory, for one client with the same
// credentials. A list that is kept spares a run the connection, until it calls a tool.

import { createHash } from "node:crypto";
import type { Clock } from "../../../platform/base/clock.ts";
import type { KeptTool, ToolHints } from "./catalogue.ts";
import { listKeptMsMax, listsBytesMax, listsKeptMax } from "./limits.ts";

/** A list, and what was left out of it. */
export interface ToolList {
  readonly tools: readonly KeptTool[];
  readonly hints: readonly ToolHints[];
  readonly problems: readonly string[];
}

interface Entry extends ToolList {
  /** By the monotonic clock. */
  readonly untilMs: number;
}

/** The lists of a replica. */
export class ToolLists {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns a list that may still be used. */
  find(key: string): ToolList | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined && this.#clock.monotonicMs() >= entry.untilMs) {
      this.#entries.delete(key);
      return undefined;
    }
    return entry;
  }

  /** Keeps a list for the time that its server names. */
  keep(key: string, list: ToolList, ttlMs: number): void {
    this.#entries.delete(key);
    if (!(ttlMs > 0) || Buffer.byteLength(JSON.stringify(list)) > listBytesMax) {
      return;
    }
    this.#entries.set(key, { ...list, untilMs: this.#clock.monotonicMs() + Math.min(ttlMs, listKeptMsMax) });
    // The oldest is the first.
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > listsKeptMax && oldest !== undefined) {
      this.#entries.delete(oldest);
    }
  }

  /** Forgets a list that has proved to be old. */
  forget(key: string): void {
    this.#entries.delete(key);
  }
}

/** All lists together take at most 32 MiB. */
const listBytesMax = listsBytesMax / 4;

/** Returns a key that shows no secret. */
export function listKeyOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url");
}
