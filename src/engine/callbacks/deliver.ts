// Sends status callbacks: takes what is due from the outbox, posts it, and notes what became of it. Every replica does;
// the outbox sees to it that callbacks of a session come in order and one at a time.
//
// D1  What was taken and not noted, for whatever reason, is due again when the hold has passed.
// D2  Nothing is sent under a hold that may not last until the answer.
// D3  Nobody has more under way here than there are places free, so that the hosts of one client, whatever they do, leave
//     places for those of others.

import type { SignRequest } from "../../platform/auth/sign-request.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Egress, EgressPost } from "../../platform/egress/post.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { type DueCallback, settleCallback, takeDueCallbacks } from "../storage/callback.ts";
import { backoffMs } from "./backoff.ts";
import { statusBody } from "./body.ts";

/** The net under lost wake-ups, and how late a repetition may be. */
const pollMs = 2_000;
/** One that does not answer blocks its own session and a place among those that are sent, so it is not waited for long. */
const attemptTimeoutMs = 10_000;
/** A sender that dies is forgotten after this. */
const holdMs = 2 * attemptTimeoutMs;
/** A hold that took this long to get still lasts for an attempt and the note of it. */
const takeMaxMs = 5_000;
/** Most callbacks that one replica sends at a time. */
const sendingMax = 32;
/** What is under way when this replica stops. */
const graceMs = 2_000;
/** Only the status of an answer counts. */
const responseBytesMax = 4_096;
const errorCharsMax = 500;

export interface DeliveryOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly wakeup: Wakeup;
  readonly egress: Pick<Egress, "post">;
  readonly signRequest: SignRequest;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** One under way. */
interface Sending {
  readonly client: string;
  readonly over: Promise<void>;
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #loop: Loop;
  /** Aborts what is still under way a while after the close. */
  readonly #giveUp = new AbortController();
  readonly #sending = new Set<Sending>();
  readonly #unsubscribe: (() => void)[] = [];

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: pollMs,
      pass: () => this.#sendDue(),
      onError: (error) => options.events.databaseTroubled({ part: "callbacks", error }),
    });
  }

  open(): void {
    const { wakeup } = this.#options;
    const wake = (): void => this.#loop.wake();
    this.#unsubscribe.push(wakeup.subscribe("callback", wake), wakeup.onGap(wake));
    this.#loop.open();
  }

  /** Takes nothing more, and lets what is under way come to its end for a short while. */
  async close(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) {
      unsubscribe();
    }
    await this.#loop.close();
    const done = new AbortController();
    const grace = this.#options.clock.sleep(graceMs, done.signal).then(() => {
      this.#giveUp.abort(new Error("the service is stopping"));
    });
    await Promise.all(Array.from(this.#sending, ({ over: isOver }) => isOver));
    done.abort(over);
    await grace;
  }

  async #sendDue(): Promise<void> {
    const limit = sendingMax - this.#sending.size;
    if (limit < 1) {
      return;
    }
    const { clock, db } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const limitPerClient = Math.ceil(limit / 2);
    const exceptClients = this.#findBusy(limit);
    const taken = await takeDueCallbacks(db, { limit, holdMs, limitPerClient, exceptClients });
    if (clock.monotonicMs() - askedAtMs > takeMaxMs) {
      return;
    }
    for (const callback of taken) {
      const isOver = this.#deliver(callback).finally(() => {
        this.#sending.delete(sending);
        // The session's next one may be due now, and there is a place again.
        this.#loop.wake();
      });
      const sending = { client: callback.client, over: isOver };
      this.#sending.add(sending);
    }
  }

  #findBusy(placesFree: number): string[] {
    const byClient = Map.groupBy(this.#sending, ({ client }) => client);
    return [...byClient].filter(([, { length }]) => length >= placesFree).map(([client]) => client);
  }

  /** Never rejects. */
  async #deliver(callback: DueCallback): Promise<void> {
    const { clock, events } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const error = await this.#send(callback);
    failpoint("callback.sent");
    const { id: callbackId, attempts } = callback;
    try {
      if (error === undefined) {
        const durationMs = clock.monotonicMs() - startedAtMs;
        await this.#settle(callback, "delivered", {});
        events.callbackDelivered({ callbackId, attempts, durationMs });
      } else if (callback.is_last) {
        await this.#settle(callback, "dead", { error });
        events.callbackDead({ callbackId, attempts, error });
      } else {
        const retryInMs = backoffMs(attempts, this.#options.random());
        await this.#settle(callback, "pending", { error, waitMs: retryInMs });
        events.callbackFailed({ callbackId, attempts, error, retryInMs });
      }
      failpoint("callback.settled");
    } catch (trouble) {
      events.databaseTroubled({ part: "callbacks", error: trouble });
    }
  }

  /** Why it was not taken; undefined when it was. */
  async #send(callback: DueCallback): Promise<Error | undefined> {
    try {
      const { egress, signRequest } = this.#options;
      const { status } = await egress.post(requestOf(callback, signRequest, this.#giveUp.signal));
      return status >= 200 && status <= 299 ? undefined : new Error(`answered with HTTP status ${status}`);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  async #settle(
    { id, attempts }: DueCallback,
    state: "delivered" | "dead" | "pending",
    { error, waitMs = 0 }: { readonly error?: Error; readonly waitMs?: number },
  ): Promise<void> {
    const text = error?.message.slice(0, errorCharsMax) ?? null;
    await settleCallback(this.#options.db, { id, attempts, state, error: text, waitMs });
  }
}

/** Each attempt has a signature of its own: receivers refuse one that they have seen. */
function requestOf(callback: DueCallback, signRequest: SignRequest, signal: AbortSignal): EgressPost {
  const body = statusBody(callback);
  return {
    url: statusUrl(callback),
    headers: {
      "content-type": "application/json",
      "x-session-id": callback.session_name,
      ...signRequest(callback.client, body),
    },
    body,
    timeoutMs: attemptTimeoutMs,
    responseBytesMax,
    signal,
  };
}

/** A query of the base stays one. */
function statusUrl({ base_url: base, session_name: name }: DueCallback): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/sessions/${encodeURIComponent(name)}/status`;
  return url.href;
}
