// A replica dies in the middle of a sentence and another one starts the turn again: the log keeps both sentences. Readers of
// a session's stream learn which one is void.

import { expect, test } from "vitest";
import { followEvents, sessionTypes } from "../conformance/event-source-surface.ts";
import { answer, callTools, hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { readSse, type SseEvent } from "../harness/sse.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider, startOwnRun, startRun } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";
import { outputOf, SessionCopy, textOf } from "./void-text.ts";

function streamUrl(url: string, sessionId: string): string {
  return `${url}/v1/sessions/${sessionId}/stream`;
}

/** Reads to `done` with the npm package eventsource. */
async function followSession(url: string, onEvent: (event: SseEvent) => void): Promise<void> {
  for await (const event of followEvents(url, { headers: credentialsOf(), types: sessionTypes })) {
    onEvent(event);
    if (event.event === "done") {
      return;
    }
  }
}

// The reader is at another replica than the run, so its stream never breaks: only the stream itself can say that the text
// comes twice. A reader that ignores this still gets the right text with `done`.
test("a reader whose stream never breaks ends with exactly the text of done", async () => {
  const cluster = await openCluster();
  const [owner, other] = [await cluster.start(), await cluster.startHere()];
  const { sessionId } = await startOwnRun(cluster, owner, "words=200 pace=25");
  const copy = new SessionCopy();
  const events: SseEvent[] = [];
  const following = followSession(streamUrl(other.url, sessionId), (event) => {
    copy.take(event);
    events.push(event);
  });
  await until("20 pieces of text", () => events.length >= 20);
  await owner.kill();
  await following;

  const output = outputOf(events);
  expect(output.match(/\S+/g)).toHaveLength(200);
  expect(copy.text).toBe(output);
  expect(events.filter(({ event }) => event === "turn_restarted")).toHaveLength(1);
  const naive = textOf(events);
  expect(naive.length).toBeGreaterThan(output.length);
  expect(naive.endsWith(output)).toBe(true);
  await expectInvariants(cluster.databaseUrl);
});

/** Resolves once a reader of the stream has so many pieces of text. */
async function seeTexts(url: string, count: number): Promise<void> {
  let texts = 0;
  for await (const { event } of readSse(url)) {
    texts += event === "text" ? 1 : 0;
    if (texts === count) {
      return;
    }
  }
}

// The first turn ends with a tool call. The second one is started three times, by three processes; only its last text counts,
// and the first turn with its call stays. A reader may be cut off anywhere and continue with what it has: inside of void
// text, between two restarts, or after text that a later restart makes void.
test("after several restarts of one turn a reader ends with the same text at any point of resumption", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(
    callTools({ id: "one", name: "list_dir", arguments: "{}" }),
    hangAfter("half of"),
    hangAfter("a bit more than half of"),
    answer("a whole answer"),
  );
  const cluster = await openCluster(environment);
  let member = await cluster.start();
  const agent = { name: "fault", tools: { builtin: ["list_dir"] } };
  const { sessionId } = await startRun(member.client, "list", agent);
  for (const texts of [1, 2]) {
    await seeTexts(streamUrl(member.url, sessionId), texts);
    await member.kill();
    member = await cluster.start();
  }
  const events = await Array.fromAsync(readSse(streamUrl(member.url, sessionId)));
  expect(events.map(({ event }) => event)).toEqual([
    "tool_call",
    "tool_result",
    "text",
    "turn_restarted",
    "text",
    "turn_restarted",
    "text",
    "done",
  ]);
  const output = outputOf(events);
  expect(output).toBe("a whole answer");
  const voids = events.filter(({ event }) => event === "turn_restarted").map(({ data }) => JSON.parse(data));
  // The same place both times: after the tool's result.
  expect(voids[1]).toEqual(voids[0]);
  for (const cut of events.keys()) {
    const copy = new SessionCopy();
    for (const event of events.slice(0, cut)) {
      copy.take(event);
    }
    const headers: Record<string, string> = copy.lastId === "" ? {} : { "last-event-id": copy.lastId };
    for await (const event of readSse(streamUrl(member.url, sessionId), headers)) {
      copy.take(event);
    }
    expect([cut, copy.text, copy.shape]).toEqual([cut, output, ["tool_call", "tool_result", "text", "done"]]);
  }
  await expectInvariants(cluster.databaseUrl);
});
