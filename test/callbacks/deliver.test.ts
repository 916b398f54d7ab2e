// Delivery of callbacks to their host: in order and one at a time per session, at least once, through every failure of the
// host and of replicas.

import { createHmac } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { backoffMs } from "../../src/engine/callbacks/backoff.ts";
import { endRun } from "../../src/engine/runs/terminal.ts";
import { redeliverCallback, settleCallback, takeDueCallbacks } from "../../src/engine/storage/callback.ts";
import { lockRun } from "../../src/engine/storage/run.ts";
import { insertRun } from "../../src/engine/storage/run-start.ts";
import { insertSession } from "../../src/engine/storage/session.ts";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import type { Db } from "../../src/platform/database/database.ts";
import type { Egress } from "../../src/platform/egress/post.ts";
import { fail, type RecordedRequest, type Script } from "../fakes/wire-server.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { hurriedClock, input, LocalWakeup, openStore, silentEvents } from "../runlog/store.ts";
import { egress, type Host, openDelivery, openHost, passTime, rowsOf, secret, take, test } from "./stage.ts";

/** A session that was created and whose first run has ended, with its three callbacks. */
async function addTold(
  db: Db,
  host: Pick<Host, "baseUrl">,
  { text = "done", client = "key/alice" } = {},
): Promise<string> {
  const { baseUrl: callbackUrl } = host;
  const id = newUuid(systemClock.nowMs());
  const agent = Buffer.alloc(0);
  await insertSession(db, { id, client, name: id, agent, workDir: undefined, callback: undefined, callbackUrl });
  const runId = newUuid(systemClock.nowMs());
  const run = { client, driver: "test", input, timeoutMs: 3_600_000, owner: undefined, callbackUrl };
  await insertRun(db, { ...run, id: runId, session: id });
  await db.transaction().execute(async (trx) => {
    const message = create(MessageSchema, { role: "assistant", content: { case: "text", value: text } });
    const end = { kind: "completed", finishReason: "stop", message, turns: 2 } as const;
    const locked = await lockRun(trx, runId);
    await endRun(trx, { run: locked ?? expect.unreachable(), end, clock: systemClock });
  });
  return id;
}

const inOrder = ["created", "running", "completed"];

async function settled(databaseUrl: string, count: number): Promise<void> {
  await until(`${count} callbacks to be settled`, async () => {
    const rows = await rowsOf(databaseUrl);
    return rows.length === count && rows.every(({ state }) => state !== "pending");
  });
}

/** Opens a sender and returns the attempt numbers of its failures. */
function openFailing(databaseUrl: string): readonly number[] {
  const failures: number[] = [];
  const events = { ...silentEvents, callbackFailed: ({ attempts }: { attempts: number }) => failures.push(attempts) };
  openDelivery(databaseUrl, { events });
  return failures;
}

function bodies(host: Host): string[] {
  return host.requests.map(({ body }) => JSON.stringify(body));
}

test("the body has the documented keys in their order, then ours, and no markup", async () => {
  const { url, db } = await openStore();
  const host = await openHost();
  const texts: string[] = [];
  const session = await addTold(db, host, { text: "<b>&\u2028" });
  const post: Egress["post"] = (request) => {
    texts.push(request.body);
    return egress.post(request);
  };
  openDelivery(url, { egress: { post } });
  await settled(url, 3);
  expect(host.requests.map(({ path }) => path)).toEqual(inOrder.map(() => `/hooks/sessions/${session}/status`));
  const [created, running, completed] = host.requests.map(({ body }) => body);
  const common = { session_id: session, client_id: "alice" };
  expect(created).toEqual({ ...common, status: "created", sequence: 0, callback_id: expect.any(String) });
  expect(running).toMatchObject({ ...common, status: "running", sequence: 0, run_id: expect.any(String) });
  expect(Object.keys(completed ?? {})).toEqual([
    "session_id",
    "client_id",
    "status",
    "output",
    "turns",
    "duration_ms",
    "run_id",
    "sequence",
    "callback_id",
  ]);
  expect(completed).toMatchObject({ status: "completed", output: "<b>&\u2028", turns: 2, sequence: 1 });
  expect(texts[2]).toContain('"output":"\\u003cb\\u003e\\u0026\\u2028"');
});

test("each attempt is signed anew, by the rule that clients use for their requests", async () => {
  const { url, db } = await openStore();
  const host = await openHost();
  host.respond(fail(500, "once more"));
  const session = await addTold(db, host);
  openDelivery(url);
  await until("a failure", async () => (await rowsOf(url))[0]?.error !== null);
  await passTime(url, 2);
  await settled(url, 3);
  for (const { headers, body } of host.requests) {
    const { "x-timestamp": timestamp, "x-nonce": nonce } = headers;
    // These bodies have only one spelling, so the parsed body prints as it was sent.
    const mac = createHmac("sha256", secret)
      .update(`${timestamp}.${nonce}.${JSON.stringify(body)}`)
      .digest("hex");
    expect(headers).toMatchObject({ "x-session-id": session, "x-signature": `sha256=${mac}` });
    expect(headers).not.toHaveProperty("x-client-id");
  }
  expect(new Set(host.requests.map(({ headers }) => headers["x-nonce"]))).toHaveProperty("size", 4);
});

test("an address with a trailing slash or a query stays valid", async ({ store: { url, db }, host }) => {
  const session = await addTold(db, { baseUrl: `${host.origin}/hooks/?team=7` });
  openDelivery(url);
  await settled(url, 3);
  expect(host.requests[0]?.path).toBe(`/hooks/sessions/${session}/status?team=7`);
});

test("a host that is away for hours gets everything in order once it is back", async ({ store: { url, db } }) => {
  const failuresMax = 14;
  let requests = 0;
  const host = await openHost(() => (++requests > failuresMax ? take : fail(503, "down")));
  const session = await addTold(db, host);
  const failures = openFailing(url);
  for (let seen = 0; seen < failuresMax; ) {
    await until(`an attempt after ${seen}`, () => failures.length > seen);
    // Read before the time is passed: an attempt that starts in between needs a pass of its own.
    seen = failures.length;
    const [head, ...others] = await rowsOf(url);
    const { attempts = 0, waitMs = 0 } = head ?? {};
    expect(head).toMatchObject({ status: "created", state: "pending", error: "answered with HTTP status 503" });
    expect(Math.ceil(waitMs)).toBeLessThanOrEqual(Math.min(600_000, 1_000 * 2 ** (attempts - 1)));
    // Later callbacks of the session have not been tried; they wait with the first.
    expect(others.map(({ attempts }) => attempts)).toEqual([0, 0]);
    await passTime(url, 600);
  }
  await settled(url, 3);
  expect(host.told(session).filter((status) => status !== "created")).toEqual(["running", "completed"]);
  expect((await rowsOf(url)).map(({ state }) => state)).toEqual(["delivered", "delivered", "delivered"]);
});

test("a callback refused for a day is dead, does not hold back the next, and can be sent again, as the last", async () => {
  const { url, db } = await openStore();
  const host = await openHost(({ body }) => (body.status === "created" ? fail(500, "no") : take));
  const session = await addTold(db, host);
  const failures = openFailing(url);
  for (let attempt = 1; attempt <= 4; attempt++) {
    await until(`attempt ${attempt}`, () => failures.length >= attempt);
    await passTime(url, 8 * 3_600);
  }
  await settled(url, 3);
  const rows = await rowsOf(url);
  expect(rows.map(({ state, attempts }) => [state, attempts])).toEqual([
    ["dead", 5],
    ["delivered", 1],
    ["delivered", 1],
  ]);
  expect(rows[0]?.error).toBe("answered with HTTP status 500");
  host.respond(take);
  const [dead] = await query<{ id: string }>(url, "select id from callback where state = 'dead'");
  const args = { client: "key/alice", id: String(dead?.id) };
  expect(await db.transaction().execute((trx) => redeliverCallback(trx, args))).toMatchObject({ state: "pending" });
  await settled(url, 3);
  expect(host.told(session).at(-1)).toBe("created");
  expect((await rowsOf(url)).map(({ status, state }) => [status, state])).toEqual([
    ["running", "delivered"],
    ["completed", "delivered"],
    ["created", "delivered"],
  ]);
  const stranger = { ...args, client: "key/bob" };
  expect(await db.transaction().execute((trx) => redeliverCallback(trx, stranger))).toBeUndefined();
});

test.each<[string, Script, string | RegExp]>([
  ["redirects", (wire) => wire.reply(302, "", { location: "http://127.0.0.1:1/" }), "answered with HTTP status 302"],
  ["refuses", fail(404, "who?"), "answered with HTTP status 404"],
  ["closes before it answers", (wire) => wire.cut(), "connection reset: it was closed before the answer was complete"],
  ["says nothing", (wire) => wire.hang(), "no complete answer within 0.3 s"],
])("a host that %s gets the same callback again", async (_what, script, error) => {
  const { url, db } = await openStore();
  const host = await openHost();
  host.respond(script);
  await addTold(db, host);
  const post: Egress["post"] = (request) => egress.post({ ...request, timeoutMs: 300 });
  openDelivery(url, { egress: { post } });
  await until("a failure", async () => (await rowsOf(url))[0]?.error !== null);
  expect((await rowsOf(url))[0]?.error).toMatch(error);
  await passTime(url, 2);
  await settled(url, 3);
  const [first, second] = bodies(host);
  expect(second).toBe(first);
  expect(host.requests.map(({ body }) => body.status)).toEqual(["created", ...inOrder]);
});

test.for<[string, Script]>([
  ["no JSON", (wire) => wire.reply(200, "<html>")],
  ["nothing", (wire) => wire.reply(204, "")],
] as const)("a successful answer with %s counts as delivered", async ([_what, script], { store: { url, db } }) => {
  const host = await openHost(() => script);
  await addTold(db, host);
  openDelivery(url);
  await settled(url, 3);
  expect((await rowsOf(url)).map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
});

test("a host that is slow or dead delays only its own sessions", async ({ store: { url, db } }) => {
  const slow = await openHost(() => (wire) => wire.hang());
  const quick = await openHost();
  for (let index = 0; index < 5; index++) {
    await addTold(db, slow);
  }
  const session = await addTold(db, quick);
  openDelivery(url);
  await until("the quick host to have all", () => quick.told(session).length === 3);
  expect(quick.told(session)).toEqual(inOrder);
  expect(slow.requests.map(({ body }) => body.status)).toEqual(Array.from({ length: 5 }, () => "created"));
});

test("a dead host with many sessions does not delay callbacks of other clients", async ({ store: { url, db } }) => {
  const dead = await openHost(() => (wire) => wire.hang());
  for (let index = 0; index < 50; index++) {
    await addTold(db, dead);
  }
  openDelivery(url);
  await dead.request(15);
  const quick = await openHost();
  const session = await addTold(db, quick, { client: "key/bob" });
  await until("the other client to have all", () => quick.told(session).length === 3);
  expect(quick.told(session)).toEqual(inOrder);
  expect(dead.requests).toHaveLength(16);
});

test("at most 32 callbacks are sent at a time", async ({ store: { url, db } }) => {
  const release = Promise.withResolvers<void>();
  const host = await openHost(() => async (wire) => {
    await release.promise;
    wire.reply(200, "");
  });
  for (let index = 0; index < 40; index++) {
    await addTold(db, host, { client: `key/${index}` });
  }
  openDelivery(url);
  await host.request(31);
  const taken = await query(url, "select from callback where attempts > 0");
  expect(taken).toHaveLength(32);
  expect(host.requests).toHaveLength(32);
  release.resolve();
  await settled(url, 120);
});

test("replicas share the sessions: each callback comes once, in order, never two of a session at a time", async () => {
  const { url, db } = await openStore();
  const underWay = new Set<unknown>();
  const overlaps: unknown[] = [];
  const count = 60;
  const host = await openHost(({ body: { session_id: session } }: RecordedRequest): Script => {
    if (underWay.has(session)) {
      overlaps.push(session);
    }
    underWay.add(session);
    return (wire) => {
      underWay.delete(session);
      wire.reply(200, "");
    };
  });
  const wakeup = new LocalWakeup();
  const replicas = Array.from({ length: 3 }, () => openDelivery(url, { wakeup }));
  const sessions = await Promise.all(
    Array.from({ length: count }, async () => {
      const session = await addTold(db, host);
      wakeup.publish({ topic: "callback", key: "", value: 0 });
      return session;
    }),
  );
  await settled(url, 3 * count);
  expect(replicas).toHaveLength(3);
  expect(sessions.map((session) => host.told(session))).toEqual(sessions.map(() => inOrder));
  expect(overlaps).toEqual([]);
});

test("a callback that its sender did not settle is taken by another after the hold, and the first is too late", async () => {
  const { url, db } = await openStore();
  const host = await openHost();
  await addTold(db, host);
  const hold = { limit: 10, limitPerClient: 10, exceptClients: [], holdMs: 20_000 };
  const [first, ...none] = await takeDueCallbacks(db, hold);
  expect([first?.status, first?.attempts, none]).toEqual(["created", 1, []]);
  expect(await takeDueCallbacks(db, hold)).toEqual([]);
  await passTime(url, 21);
  const [second] = await takeDueCallbacks(db, hold);
  expect([second?.id, second?.attempts]).toEqual([first?.id, 2]);
  const late = { id: String(first?.id), attempts: 1, state: "delivered", error: null, waitMs: 0 } as const;
  expect(await settleCallback(db, late)).toBe(false);
  expect(await takeDueCallbacks(db, hold)).toEqual([]);
  expect(await settleCallback(db, { ...late, attempts: 2 })).toBe(true);
  expect((await takeDueCallbacks(db, hold)).map(({ status }) => status)).toEqual(["running"]);
});

test("a new callback waits while an earlier one of its session waits for another attempt", async () => {
  const { url, db } = await openStore();
  const host = await openHost(() => fail(503, "down"));
  const session = await addTold(db, host);
  let rounds = 0;
  const clock = hurriedClock(20);
  const sleep: Clock["sleep"] = (...args) => {
    rounds++;
    return clock.sleep(...args);
  };
  openDelivery(url, { clock: { ...clock, sleep } });
  await until("a failure", async () => (await rowsOf(url))[0]?.error !== null);
  const before = host.requests.length;
  await db
    .insertInto("callback")
    .values({ client: "key/alice", session, sequence: 0, status: "running", base_url: host.baseUrl })
    .execute();
  const roundsBefore = rounds;
  await until("more rounds of asking", () => rounds > roundsBefore + 3);
  expect(host.requests.length).toBe(before);
  expect((await rowsOf(url)).map(({ attempts }) => attempts)).toEqual([1, 0, 0, 0]);
});

test("a sender that closes finishes the callback under way and takes no more", async ({ store: { url, db } }) => {
  const arrived = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const host = await openHost(() => async (wire) => {
    arrived.resolve();
    await release.promise;
    wire.reply(200, "");
  });
  await addTold(db, host);
  const delivery = openDelivery(url, { clock: systemClock });
  await arrived.promise;
  const closing = delivery.close();
  release.resolve();
  await closing;
  expect((await rowsOf(url)).map(({ state }) => state)).toEqual(["delivered", "pending", "pending"]);
});

test("a sender that closes does not wait for a host that never answers", async ({ store: { url, db } }) => {
  const host = await openHost(() => (wire) => wire.hang());
  await addTold(db, host);
  const delivery = openDelivery(url);
  await host.request(0);
  await delivery.close();
  expect((await rowsOf(url))[0]).toMatchObject({
    state: "pending",
    attempts: 1,
    error: "the service is stopping",
  });
});

test("the delay doubles from one second to ten minutes, plus or minus a fifth", () => {
  expect([1, 2, 3, 10, 11, 150].map((attempts) => backoffMs(attempts, 0.5))).toEqual([
    1_000, 2_000, 4_000, 512_000, 600_000, 600_000,
  ]);
  expect([backoffMs(1, 0), backoffMs(1, 1)]).toEqual([800, 1_200]);
});
