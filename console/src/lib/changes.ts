// What changes of a client's things, from one stream for all tabs: the latest state of each thing by its id.

import {
  type DescMessage,
  type DescMethodServerStreaming,
  fromBinary,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import { ConnectError } from "@connectrpc/connect";
import { useEffect, useSyncExternalStore } from "react";
import { access, onOtherKey } from "../api/access.ts";
import { consoleBase, transport } from "../api/transport.ts";
import { oncePerFrame } from "./frame-batch.ts";
import type { StreamPhase } from "./stream.ts";

/** The changes that stay in memory; a list has older things from its pages. */
const keptMax = 2_000;

/** A response of a watch. */
type Change = Message & { readonly cursor: string };

/** A watch of the contract. */
export interface Watch<Item, Response extends Change> {
  /** Its request has a cursor, `after`. */
  readonly method: DescMethodServerStreaming<DescMessage, GenMessage<Response>>;
  /** Returns undefined for a response that only keeps the stream alive. */
  readonly itemOf: (response: Response) => Item | undefined;
  readonly idOf: (item: Item) => string;
  /** Its request without the cursor. */
  readonly request: Readonly<Record<string, unknown>>;
}

export class Changes<Item, Response extends Change> {
  /** The latest state of each thing that has changed, by its id. A new map for each change that components see. */
  items: ReadonlyMap<string, Item> = new Map();
  phase: StreamPhase = { name: "connecting" };

  readonly #watch: Watch<Item, Response>;
  /** The last response about each thing, in the order of the changes. */
  readonly #latest = new Map<string, Response>();
  #cursor = "";
  #version = 0;
  #readers = 0;
  #stop: (() => void) | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #notify = oncePerFrame(() => {
    this.items = new Map(this.#read());
    this.#version += 1;
    for (const listener of this.#listeners) {
      listener();
    }
  });

  constructor(watch: Watch<Item, Response>) {
    this.#watch = watch;
    onOtherKey((isSameClient) => this.#restart(isSameClient));
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

  /** Follows the things of the new key. Drops everything that was of another client. */
  #restart(isSameClient: boolean): void {
    if (!isSameClient) {
      this.#latest.clear();
      this.#cursor = "";
      this.#notify();
    }
    if (this.#stop !== undefined) {
      this.#stop();
      this.#stop = this.#follow();
    }
  }

  #follow(): () => void {
    const { method, itemOf, request } = this.#watch;
    const schema = method.output;
    const stop = new AbortController();
    // A list shows before the page has the code that follows it.
    const begun = Promise.all([nameOf(schema.typeName), import("./shared-stream.ts")]).then(
      ([name, { followTogether }]) => {
        if (stop.signal.aborted) {
          return;
        }
        const leave = followTogether<Response>({
          name,
          encode: (response) => toBinary(schema, response),
          decode: (bytes) => fromBinary(schema, bytes),
          recall: () => [...this.#latest.values()],
          open: (signal) => open(method, { ...request, after: this.#cursor }, signal),
          take: (response) => {
            this.#cursor = response.cursor === "" ? this.#cursor : response.cursor;
            const item = itemOf(response);
            if (item === undefined) {
              return undefined;
            }
            this.#put(item, response);
            this.#notify();
            return Date.now();
          },
          onPhase: (phase) => {
            this.phase = phase;
            this.#notify();
          },
          onResume: () => undefined,
        });
        stop.signal.addEventListener("abort", leave, { once: true });
      },
    );
    begun.catch((error: unknown) => {
      this.phase = { name: "refused", error: ConnectError.from(error) };
      this.#notify();
    });
    return () => stop.abort();
  }

  *#read(): Iterable<[string, Item]> {
    for (const [id, response] of this.#latest) {
      const item = this.#watch.itemOf(response);
      if (item !== undefined) {
        yield [id, item];
      }
    }
  }

  #put(item: Item, response: Response): void {
    const id = this.#watch.idOf(item);
    this.#latest.delete(id);
    this.#latest.set(id, response);
    const [oldest] = this.#latest.keys();
    if (this.#latest.size > keptMax && oldest !== undefined) {
      this.#latest.delete(oldest);
    }
  }
}

/** Opens a stream, without a limit of time. */
async function* open<Response extends Change>(
  method: Watch<never, Response>["method"],
  request: Record<string, unknown>,
  signal: AbortSignal,
): AsyncGenerator<Response> {
  yield* (await transport.stream(method, signal, 0, undefined, once(request))).message;
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Tabs share a stream when they have the same key. Its hash is in the name, so that the key itself leaves no tab. */
async function nameOf(stream: string): Promise<string> {
  // Without a secure origin there is no hash, and nothing is shared.
  const hash = await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(access.get().apiKey ?? ""));
  const caller = Array.from(new Uint8Array(hash ?? []), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${consoleBase} ${stream} ${caller}`;
}

/** Follows the changes while the component is shown. */
export function useChanges<Item, Response extends Change>(changes: Changes<Item, Response>): Changes<Item, Response> {
  useSyncExternalStore(changes.subscribe, changes.getVersion);
  useEffect(() => changes.retain(), [changes]);
  return changes;
}
