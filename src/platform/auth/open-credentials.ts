// Ends streams whose credential ends before them: an API key that is revoked or expires, or an access token that expires.
//
// E1  A key is looked up when it may have been revoked, and from time to time: a wake-up may be lost.
// E2  Each stream has a signal of its own, which goes with it: a signal that all share would remember each stream that ever was.

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
  readonly streams: Set<AbortController>;
  /** Aborts when the credential has no stream any more. */
  readonly closed: AbortController;
  readonly keyId: string | undefined;
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
      isIdle: () => this.#open.size === 0,
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
    const open = known ?? { streams: new Set(), closed: new AbortController(), keyId };
    if (known === undefined) {
      this.#open.set(name, open);
      this.#loop.resume();
      void this.#expire(open, endMs);
    }
    const stream = new AbortController();
    open.streams.add(stream);
    return { signal: stream.signal, [Symbol.dispose]: () => this.#close(name, open, stream) };
  }

  #close(name: string, { streams, closed }: Open, stream: AbortController): void {
    streams.delete(stream);
    if (streams.size === 0 && this.#open.get(name)?.streams === streams) {
      this.#open.delete(name);
      closed.abort(over);
    }
  }

  async #expire(open: Open, endMs: number | undefined): Promise<void> {
    if (endMs === undefined) {
      return;
    }
    const { clock } = this.#options;
    await clock.sleep(endMs - clock.nowMs(), open.closed.signal);
    this.#end(open, open.keyId === undefined ? tokenExpired() : keyExpired());
  }

  #end({ streams }: Open, fault: Fault): void {
    const error = this.#options.toError(fault);
    for (const stream of streams) {
      stream.abort(error);
    }
  }

  async #look(): Promise<void> {
    const keys = Map.groupBy(this.#open.values(), ({ keyId }) => keyId);
    const ids = [...keys.keys()].filter((id) => id !== undefined);
    const ended = ids.length === 0 ? [] : await listEndedKeys(this.#options.db, ids);
    for (const { id, is_revoked } of ended) {
      for (const open of keys.get(id) ?? []) {
        this.#end(open, is_revoked ? keyRevoked() : keyExpired());
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
