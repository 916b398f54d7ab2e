// A path over the network between two parts of a system, through a wire for each port of the far part. A test cuts, delays or
// half-opens it, and mends it.

import { connect } from "node:net";
import { type Link, layWire } from "./wire.ts";

/**
 * - `cut`: all connections break, and new ones are refused.
 * - `halfOpen`: connections and new ones stay open and carry nothing. Neither end learns of it.
 * - a number: all data arrive so many milliseconds later.
 */
export type PathFault = "cut" | "halfOpen" | number;

export interface Path {
  /** The ports of the near ends, in the order of the far ports. */
  readonly ports: readonly number[];
  /** Breaks all connections, or those that reach the far part from `clientPort`. */
  break(fault: PathFault, clientPort?: number): void;
  /** What a half-open path has held back arrives now. */
  mend(): void;
  close(): void;
}

export interface PathOptions {
  /** Sees what the near part sends. Returning false cuts the connection. */
  readonly admit?: (data: Buffer) => boolean;
}

/** Opens a path to ports of this machine. The caller closes it. */
export async function openPath(farPorts: readonly number[], { admit = () => true }: PathOptions = {}): Promise<Path> {
  let fault: PathFault | undefined;
  const silent = new Set<Link>();
  const queues = new WeakMap<Link, { near: Queue; far: Queue }>();

  const silence = (link: Link): void => {
    link.silence();
    silent.add(link);
  };
  const inspect = (link: Link, data: Buffer, from: "near" | "far"): boolean => {
    if (from === "near" && !admit(data)) {
      link.cut();
      return false;
    }
    if (fault === "halfOpen") {
      // A connection that began after the break.
      silence(link);
      link[from].unshift(data);
      return false;
    }
    const both = queues.get(link) ?? { near: new Queue(), far: new Queue() };
    queues.set(link, both);
    const delayMs = typeof fault === "number" ? fault : 0;
    return !both[from].holds(data, delayMs, (late) => link[from === "near" ? "far" : "near"].write(late));
  };
  const wires = await Promise.all(
    farPorts.map((port) =>
      layWire({ connectFar: () => (fault === "cut" ? undefined : connect(port, "127.0.0.1")), inspect }),
    ),
  );
  const links = (): Link[] => wires.flatMap(({ wire }) => [...wire.links]);
  return {
    ports: wires.map(({ wire }) => wire.port),
    break: (next, clientPort) => {
      const broken = links().filter(({ far }) => clientPort === undefined || far.localPort === clientPort);
      fault = clientPort === undefined ? next : undefined;
      if (typeof next === "string") {
        broken.forEach(next === "cut" ? (link) => link.cut() : silence);
      }
    },
    mend: () => {
      fault = undefined;
      const held = [...silent];
      silent.clear();
      for (const link of held) {
        link.resume();
      }
    },
    close: () => {
      for (const { close } of wires) {
        close();
      }
    },
  };
}

/** Data of one direction that arrive later, in the order in which they were sent. */
class Queue {
  readonly #held: { readonly dueMs: number; readonly data: Buffer }[] = [];

  /** Returns false when there is nothing to wait for. */
  holds(data: Buffer, delayMs: number, write: (data: Buffer) => void): boolean {
    const last = this.#held.at(-1);
    if (delayMs === 0 && last === undefined) {
      return false;
    }
    this.#held.push({ dueMs: Math.max(performance.now() + delayMs, last?.dueMs ?? 0), data });
    if (last === undefined) {
      this.#flush(write);
    }
    return true;
  }

  #flush(write: (data: Buffer) => void): void {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      const waitMs = first.dueMs - performance.now();
      if (waitMs > 0) {
        setTimeout(() => this.#flush(write), Math.ceil(waitMs));
        return;
      }
      write(first.data);
      this.#held.shift();
    }
  }
}
