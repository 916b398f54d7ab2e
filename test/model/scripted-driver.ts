// A driver that carries out the orders of a test one by one and reports when an order is done.

import { once } from "node:events";
import type { Driver, DriverEnd, DriverStep, RunContext } from "../../src/engine/runs/driver.ts";
import { completedWith, text, turn } from "../runlog/store.ts";

export const orderKinds = ["say", "commit", "park", "complete", "fail", "throw"] as const;
export type OrderKind = (typeof orderKinds)[number];

interface Order {
  readonly kind: OrderKind;
  /** The word, for orders that write one. */
  readonly word: number;
  readonly done: () => void;
}

/** The drivers of one replica. */
export class Script {
  readonly #posts = new Map<string, Post>();

  driver(name: string, recovery: Driver["recovery"]): Driver {
    return { name, recovery, run: (context) => this.#work(context) };
  }

  /** The post that takes orders for a run; undefined while no driver works on it, or after its driver was stopped. */
  post(runId: string): Post | undefined {
    const post = this.#posts.get(runId);
    return post?.isStopped === false ? post : undefined;
  }

  async *#work(context: RunContext): AsyncGenerator<DriverStep, DriverEnd> {
    const post = new Post(context.signal);
    this.#posts.set(context.runId, post);
    try {
      return yield* obey(post, context);
    } finally {
      // The run may have a new driver here already, whose post must stay.
      if (this.#posts.get(context.runId) === post) {
        this.#posts.delete(context.runId);
      }
    }
  }
}

async function* obey(post: Post, context: RunContext): AsyncGenerator<DriverStep, DriverEnd> {
  for (;;) {
    const order = await post.next();
    if (order === undefined) {
      return { kind: "failed", code: "runner.error", error: "stopped", retryable: false };
    }
    switch (order.kind) {
      case "say":
        yield { kind: "append", result: text(`${order.word},`) };
        break;
      case "commit": {
        const checkpoint = { turn: order.word, state: new Uint8Array() };
        yield { kind: "commit", results: [turn(order.word)], effects: { checkpoint } };
        break;
      }
      case "throw":
        throw new Error("a defect");
      default:
        return endOf(order.kind, context);
    }
    order.done();
  }
}

function endOf(kind: "park" | "complete" | "fail", { checkpoint }: RunContext): DriverEnd {
  switch (kind) {
    case "park":
      return {
        kind: "parked",
        reason: "a pause",
        wakeInMs: undefined,
        checkpoint: { turn: checkpoint?.turn ?? 0, state: new Uint8Array() },
      };
    case "complete":
      return completedWith("done");
    case "fail":
      return { kind: "failed", code: "runner.error", error: "as ordered", retryable: false };
    default:
      return kind satisfies never;
  }
}

export class Post {
  readonly #signal: AbortSignal;
  readonly #orders: Order[] = [];
  #given = Promise.withResolvers<void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get isStopped(): boolean {
    return this.#signal.aborted;
  }

  give(order: Order): void {
    this.#orders.push(order);
    this.#given.resolve();
  }

  /** Returns undefined when the driver should stop. */
  async next(): Promise<Order | undefined> {
    while (!this.isStopped) {
      const order = this.#orders.shift();
      if (order !== undefined) {
        return order;
      }
      this.#given = Promise.withResolvers();
      const over = new AbortController();
      await Promise.race([this.#given.promise, once(this.#signal, "abort", { signal: over.signal }).catch(() => {})]);
      over.abort();
    }
    return undefined;
  }
}
