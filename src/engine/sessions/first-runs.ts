// Lets readers wait for the first run of a session. All readers of a session in this process share one query. A wake-up
// triggers it, and a slow poll covers lost wake-ups.

import { type Clock, over } from "../../platform/base/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { findSession, type SessionRow } from "../storage/session.ts";

const pollMs = 2_000;

/** What the wait for first runs works with. */
export interface FirstRunDeps {
  readonly db: Db;
  readonly wakeup: Wakeup;
  readonly clock: Clock;
}

type Session = Pick<SessionRow, "id" | "client" | "name">;

/** The run id; null when the session was deleted before it had a run; undefined when the reader left first. */
export type FirstRun = string | null | undefined;

interface Reader {
  readonly resolve: (runId: FirstRun) => void;
  readonly reject: (error: unknown) => void;
}

interface Wait {
  readonly readers: Set<Reader>;
  /** Aborts when the last reader has left. */
  readonly over: AbortController;
}

/** The readers of this process that wait for a first run. */
export class FirstRuns {
  readonly #deps: FirstRunDeps;
  readonly #waits = new Map<string, Wait>();

  constructor(deps: FirstRunDeps) {
    this.#deps = deps;
  }

  /** Resolves with the session's run once it has one, or with null once it will never have one. */
  async of(session: Session, signal: AbortSignal): Promise<FirstRun> {
    if (signal.aborted) {
      return undefined;
    }
    const { promise, resolve, reject } = Promise.withResolvers<FirstRun>();
    const leave = (): void => resolve(undefined);
    signal.addEventListener("abort", leave, { once: true });
    const wait = this.#waits.get(session.id) ?? this.#begin(session);
    const reader = { resolve, reject };
    wait.readers.add(reader);
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", leave);
      wait.readers.delete(reader);
      if (wait.readers.size === 0) {
        this.#end(session, wait);
      }
    }
  }

  #begin(session: Session): Wait {
    const wait = { readers: new Set<Reader>(), over: new AbortController() };
    this.#waits.set(session.id, wait);
    this.#look(session, wait.over.signal).then(
      (runId) => this.#end(session, wait, (reader) => reader.resolve(runId)),
      (error: unknown) => this.#end(session, wait, (reader) => reader.reject(error)),
    );
    return wait;
  }

  /** Ends a wait; later readers begin a new one. */
  #end({ id }: Session, wait: Wait, tell: (reader: Reader) => void = () => {}): void {
    if (this.#waits.get(id) === wait) {
      this.#waits.delete(id);
    }
    wait.over.abort(over);
    wait.readers.forEach(tell);
  }

  async #look(session: Session, signal: AbortSignal): Promise<FirstRun> {
    const { db, wakeup, clock } = this.#deps;
    let woken = new AbortController();
    const unsubscribe = wakeup.subscribe("session", ({ key }) => {
      if (key === session.id) {
        woken.abort(over);
      }
    });
    signal.addEventListener("abort", () => woken.abort(over), { once: true });
    try {
      while (!signal.aborted) {
        const current = await findSession(db, { client: session.client, name: session.name });
        if (current?.id !== session.id) {
          return null;
        }
        if (current.latest_run_id !== null) {
          return current.latest_run_id;
        }
        // A wake-up during the query ends this sleep at once.
        await clock.sleep(pollMs, woken.signal);
        woken = new AbortController();
      }
      return undefined;
    } finally {
      unsubscribe();
    }
  }
}
