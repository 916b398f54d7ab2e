// A host for callbacks on a real socket, and senders of callbacks over one database.

import { onTestFinished } from "vitest";
import { Delivery, type DeliveryOptions } from "../../src/engine/callbacks/deliver.ts";
import { createSignRequest } from "../../src/platform/auth/sign-request.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { createEgress, type Egress } from "../../src/platform/egress/post.ts";
import type { RecordedRequest, Script, WireServer } from "../fakes/wire-server.ts";
import { test as base, openWireServer } from "../fixtures.ts";
import { query } from "../harness/database.ts";
import { connect, hurriedClock, LocalWakeup, silentEvents } from "../runlog/store.ts";

export interface Host extends WireServer {
  /** The callback address for sessions. */
  readonly baseUrl: string;
  /** The statuses that a session and its runs reported, in the order of arrival. */
  told(sessionId: string): string[];
}

/** Accepts every callback unless a test scripts another answer. */
export async function openHost(describe: (request: RecordedRequest) => Script = () => take): Promise<Host> {
  const server = await openWireServer(describe);
  const told = (sessionId: string): string[] =>
    server.requests.filter(({ body }) => body.session_id === sessionId).map(({ body }) => String(body.status));
  return { ...server, baseUrl: `${server.origin}/hooks`, told };
}

export const test = base.extend("host", () => openHost());

export const take: Script = (wire) => wire.reply(200, '{"ok":true}');

/** One more replica's sender; without wake-ups it polls often. */
export function openDelivery(databaseUrl: string, choice: Partial<DeliveryOptions> = {}): Delivery {
  const { db } = connect(databaseUrl);
  const delivery = new Delivery({
    db,
    clock: hurriedClock(20),
    events: silentEvents,
    wakeup: new LocalWakeup(),
    egress,
    signRequest: createSignRequest({ keyRing: { findCallbackSecret: () => secret }, clock: systemClock }),
    printPush: () => Promise.reject(new Error("no test here pushes")),
    random: () => 0.5,
    ...choice,
  });
  onTestFinished(() => delivery.close());
  delivery.open();
  return delivery;
}

export const secret = "what-both-sides-know";

/** The real egress, with permission to call this machine. */
export const egress: Egress = createEgress({ clock: systemClock, allowsPrivate: true, exceptions: [] });

/** Moves all times of all callbacks into the past. */
export async function passTime(databaseUrl: string, seconds: number): Promise<void> {
  const earlier = `- interval '${seconds} seconds'`;
  await query(
    databaseUrl,
    `update callback set due_time = due_time ${earlier}, give_up_time = give_up_time ${earlier},
      create_time = create_time ${earlier}, end_time = end_time ${earlier}`,
  );
}

export interface Row {
  readonly session: string;
  readonly status: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly waitMs: number;
}

/** All rows in order. */
export async function rowsOf(databaseUrl: string, sessionId?: string): Promise<Row[]> {
  return await query<Row>(
    databaseUrl,
    `select session.name as session, status, state, attempts, last_error as error,
      (extract(epoch from due_time - now()) * 1000)::float8 as "waitMs"
     from callback join session on session.id = callback.session
     where $1::text is null or session.name = $1 order by position`,
    [sessionId ?? null],
  );
}
