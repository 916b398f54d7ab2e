// Processes that deliver callbacks: two of them share the work, and one that is killed between the commit of a transition
// and its delivery loses nothing.

import { expect, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { rowsOf } from "../callbacks/stage.ts";
import type { RecordedRequest, Script, WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { until } from "../harness/wait.ts";
import { type Cluster, type Member, openCluster, openProvider } from "./cluster.ts";

/** Longer than the hold of a dead sender. */
const patienceMs = 60_000;
const wholeStory = ["created", "running", "completed"];

/** Records when two callbacks of one session overlap. */
class Watch {
  readonly overlaps: unknown[] = [];
  readonly #underWay = new Set<unknown>();

  readonly script = ({ body: { session_id: session }, closed }: RecordedRequest): Script => {
    if (this.#underWay.has(session)) {
      this.overlaps.push(session);
    }
    this.#underWay.add(session);
    const leave = (): boolean => this.#underWay.delete(session);
    void closed.then(leave);
    return (wire) => {
      leave();
      wire.reply(200, "");
    };
  };
}

async function openTold(script: (request: RecordedRequest) => Script): Promise<{ host: WireServer; cluster: Cluster }> {
  const host = await openWireServer(script);
  const { environment } = await openProvider();
  const cluster = await openCluster({
    ...environment,
    RUNNEL_CALLBACK_BASE_URL: host.origin,
    RUNNEL_SECURITY_ALLOW_PRIVATE_NETWORKS: "true",
    RUNNEL_SESSIONS_MAX_CONCURRENT: "0",
  });
  return { host, cluster };
}

async function converse({ client }: Member): Promise<string> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent: { name: "told" } });
  await client.call(SessionService.method.sendMessage, { sessionId, message: "n=5 gap=5" });
  return sessionId;
}

async function delivered({ databaseUrl }: Cluster, count: number): Promise<void> {
  const isDone = async () => (await rowsOf(databaseUrl)).filter(({ state }) => state === "delivered").length === count;
  await until(`${count} callbacks to be delivered`, isDone, patienceMs);
}

/** The statuses of a session in order of arrival, without repetitions. */
function storyOf(host: WireServer, sessionId: string): string[] {
  const ours = host.requests.filter(({ body }) => body.session_id === sessionId);
  const told = ours.map(({ body }) => ({ id: body.callback_id, status: String(body.status) }));
  return told.filter(({ id }, index) => id !== told[index - 1]?.id).map(({ status }) => status);
}

test("two processes deliver every callback once, in order, never two of a session at a time", async () => {
  const watch = new Watch();
  const { host, cluster } = await openTold(watch.script);
  const members = [await cluster.start(), await cluster.start()];
  const sessions = await Promise.all(
    Array.from({ length: 20 }, (_, index) => converse(members[index % 2] ?? expect.unreachable())),
  );
  await delivered(cluster, 60);
  expect(sessions.map((session) => storyOf(host, session))).toEqual(sessions.map(() => wholeStory));
  expect(host.requests).toHaveLength(60);
  expect(watch.overlaps).toEqual([]);
});

test("callbacks of a process that is killed during delivery are sent again by another process", async () => {
  let isStalled = true;
  const watch = new Watch();
  const { host, cluster } = await openTold((request) => (isStalled ? (wire) => wire.hang() : watch.script(request)));
  const dying = await cluster.start();
  const sessions = await Promise.all(Array.from({ length: 5 }, () => converse(dying)));
  await until("every session's first callback to be under way", () => host.requests.length === sessions.length);
  await until("every run to end", async () => (await rowsOf(cluster.databaseUrl)).length === 15);
  dying.signal("SIGKILL");
  isStalled = false;
  await cluster.start();
  await delivered(cluster, 15);
  expect(sessions.map((session) => storyOf(host, session))).toEqual(sessions.map(() => wholeStory));
  // Sent twice: the callbacks that the dead process was sending, and nothing else.
  expect(host.requests).toHaveLength(20);
  expect(watch.overlaps).toEqual([]);
});
