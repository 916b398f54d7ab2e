// Ends streams whose credential ends before them: an API key that is revoked or expires, or an access token that expires.
//
// E1  A key is looked up when it may have been revoked, and from time to time: a wake-up may be lost.
// E2  All streams of a credential share its signal. Without a stream it costs nothing.

import { type Clock, over } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { Loop } from "../base/loop.ts";
import type { Db } from "../database/database.ts";
import type { Events } from "../telemetry/events.ts";
import type { Lifetime } from "./caller.ts";
import { listEndedKeys } from "./storage/api-key.ts";

/** A lost wake-up delays the end of a stream by this much. */
const lookMs = 10_000;

/** What the credentials need. */
export interface OpenCredentialsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Pick<Events, "databaseTroubled">;
  /** Converts a fault to the error that the reader of a stream gets. */
  readonly toError: (fault: Fault) => Error;
}

/** A signal that aborts when a credential ends, until it is disposed. */
export interface CredentialEnd extends Disposable {
  readonly signal: AbortSignal;
}

interface Open {
  readonly ended: AbortController;
  /** Aborts when the credential has no stream any more. */
  readonly closed: AbortController;
  readonly keyId: string | undefined;
  count: number;
}

/** The credentials of the open streams of this replica. */
export class OpenCredentials {
  readonly #options: OpenCredentialsOptions;
  readonly #open = new Map<string, Open>();
  readonly #loop: Loop;

  constructor(options: OpenCredentialsOptions) {
    this.#options = options;
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: lookMs,
      waitsFirst: true,
      pass: () => this.#look(),
      onError: (error) => options.events.databaseTroubled({ part: "credentials", error }),
    });
  }

  open(): void {
    this.#loop.open();
  }

  async close(): Promise<void> {
    await this.#loop.close();
  }

  /** Looks at the keys again, if streams have any: one may have been revoked. */
  wake(): void {
    if (this.#open.size > 0) {
      this.#loop.wake();
    }
  }

  /** Watches a credential for a stream. */
  watch({ keyId, endMs }: Lifetime): CredentialEnd {
    const name = `${keyId} ${endMs}`;
    const known = this.#open.get(name);
    const entry = known ?? { ended: new AbortController(), closed: new AbortController(), keyId, count: 0 };
    entry.count += 1;
    if (known === undefined) {
      this.#open.set(name, entry);
      void this.#expire(entry, endMs);
    }
    return { signal: entry.ended.signal, [Symbol.dispose]: () => this.#close(name, entry) };
  }

  #close(name: string, entry: Open): void {
    entry.count -= 1;
    if (entry.count === 0) {
      this.#open.delete(name);
      entry.closed.abort(over);
    }
  }

  async #expire({ ended, closed, keyId }: Open, endMs: number | undefined): Promise<void> {
    if (endMs === undefined) {
      return;
    }
    const { clock, toError } = this.#options;
    await clock.sleep(endMs - clock.nowMs(), closed.signal);
    if (!closed.signal.aborted) {
      ended.abort(toError(keyId === undefined ? tokenExpired() : keyExpired()));
    }
  }

  async #look(): Promise<void> {
    const keys = [...this.#open.values()].filter(({ keyId, ended }) => keyId !== undefined && !ended.signal.aborted);
    if (keys.length === 0) {
      return;
    }
    const { db, toError } = this.#options;
    const ends = await listEndedKeys(db, [...new Set(keys.map(({ keyId = "" }) => keyId))]);
    for (const { id, is_revoked } of ends) {
      for (const { ended } of keys.filter(({ keyId }) => keyId === id)) {
        ended.abort(toError(is_revoked ? keyRevoked() : keyExpired()));
      }
    }
  }
}

/** Returns the fault of a call with a revoked API key. */
export function keyRevoked(): Fault {
  return new Fault("TOKEN_INVALID", "the API key was revoked", { metadata: { token_state: "revoked" } });
}

/** Returns the fault of a call with an expired API key. */
export function keyExpired(): Fault {
  return new Fault("TOKEN_INVALID", "the API key has expired", { metadata: { token_state: "expired" } });
}

function tokenExpired(): Fault {
  return new Fault("TOKEN_INVALID", "the access token has expired", { metadata: { token_state: "expired" } });
}
