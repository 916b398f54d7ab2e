// Sends status callbacks and pushes of runs: takes due callbacks from the outbox, posts them, and records the outcome. Every replica sends. The
// outbox makes callbacks of a session go out in order and one at a time.
//
// D1  A callback that was taken and has no recorded outcome is due again when its hold has passed.
// D2  Nothing is sent under a hold that may end before the response.
// D3  A client that has as many callbacks under way here as there are free slots gets no more. So the hosts of one client leave
//     slots for the hosts of others.

import type { SignRequest } from "../../platform/auth/sign-request.ts";
import { type Clock, over } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import { Loop } from "../../platform/base/loop.ts";
import type { PrintPush } from "../../platform/base/pushes.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Egress, EgressPost } from "../../platform/egress/post.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import type { Wakeup } from "../log/wakeup.ts";
import { type DueCallback, settleCallback, takeDueCallbacks } from "../storage/callback.ts";
import { backoffMs } from "./backoff.ts";
import { statusBody } from "./body.ts";

/** The look of the reaper wakes the loop while a callback is due. */
const pollMs = 60_000;
/** The timeout of an attempt. A host that does not answer blocks its session and a slot, so it is short. */
const attemptTimeoutMs = 10_000;
/** A callback whose sender died is due again after this time. */
const holdMs = 2 * attemptTimeoutMs;
/** A hold that took longer to get is not used: it may end before an attempt and the record of its outcome. */
const takeMaxMs = 5_000;
/** The maximum number of callbacks that one replica sends at a time. */
const sendingMax = 32;
/** How long a closing replica waits for attempts under way. */
const graceMs = 2_000;
/** The maximum size of a response; only its status counts. */
const responseBytesMax = 4_096;
const errorCharsMax = 500;

/** Options of the delivery. */
export interface DeliveryOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly wakeup: Wakeup;
  readonly egress: Pick<Egress, "post">;
  readonly signRequest: SignRequest;
  /** Prints the run of a client as a push has it. */
  readonly printPush: PrintPush;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
}

/** An attempt under way. */
interface Sending {
  readonly client: string;
  readonly over: Promise<void>;
}

/** Delivers the status callbacks that are due. */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #loop: Loop;
  /** Aborts attempts that are still under way a while after the close. */
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

  /** Takes no more callbacks, and lets attempts under way finish for a short while. */
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
        // The session's next callback may be due now, and a slot is free again.
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

  /** Returns why the host did not accept the callback; undefined when it did. */
  async #send(callback: DueCallback): Promise<Error | undefined> {
    try {
      const { egress, signRequest, printPush } = this.#options;
      const { push, run_id: runId, client } = callback;
      const request =
        push === null || runId === null
          ? statusRequest(callback, signRequest)
          : pushRequest(callback, push, await printPush(client, runId));
      const { status } = await egress.post({
        ...request,
        timeoutMs: attemptTimeoutMs,
        responseBytesMax,
        signal: this.#giveUp.signal,
      });
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

/** What an attempt sends. */
type Sent = Pick<EgressPost, "url" | "headers" | "body">;

/** Each attempt has its own signature: receivers refuse a signature that they have seen. */
function statusRequest(callback: DueCallback, signRequest: SignRequest): Sent {
  const body = statusBody(callback);
  return {
    url: statusUrl(callback),
    headers: {
      "content-type": "application/json",
      "x-session-id": callback.session_name,
      ...signRequest(callback.client, body),
    },
    body,
  };
}

function pushRequest(
  { base_url: url }: DueCallback,
  { token, scheme, credentials }: NonNullable<DueCallback["push"]>,
  { body, type }: Awaited<ReturnType<PrintPush>>,
): Sent {
  return {
    url,
    headers: {
      "content-type": type,
      ...(scheme !== "" && { authorization: `${scheme} ${credentials}`.trim() }),
      // The name that A2A's own libraries have for it.
      ...(token !== "" && { "x-a2a-notification-token": token }),
    },
    body,
  };
}

/** Appends the path to the base URL, such as `/sessions/s1/status`. A query of the base URL stays. */
function statusUrl({ base_url: base, session_name: name }: DueCallback): string {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}/sessions/${encodeURIComponent(name)}/status`;
  return url.href;
}
