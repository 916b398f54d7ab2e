// The fold over real logs of runners, which change state and ask for approvals.

import { beforeEach, describe, expect, test } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { printFrame } from "../../src/surfaces/ag-ui/events.ts";
import { done, hello, openWorkerStage, readLog, type Said, start } from "../runners/hand-worker.ts";
import { ask, clients, openAgent } from "./stage.ts";
import { expectFolds, openFold } from "./verify-folds.ts";

const stateOf = (scope: string, key: string, value: unknown): Said => ["state.updated", { scope, key, value }];
const ban: Said = ["action.requested", { action: "ban", target: { user: "u-2" } }];
const said: Readonly<Record<number, Said>> = {
  1: hello,
  2: stateOf("conversation", "count", 1),
  3: ban,
  4: stateOf("conversation", "count", 2),
  5: stateOf("actor", "likes", { "a/b~c": [1] }),
  6: stateOf("actor", "a/b~c", true),
  7: done,
};
const changed = { conversation: { count: 2 }, actor: { likes: { "a/b~c": [1] }, "a/b~c": true } };

let log: readonly RunResult[];

beforeEach(async () => {
  const { client, worker } = await openWorkerStage({ binding: { approvalPolicy: { required: true } } });
  const runId = await start(client);
  await worker.report(await worker.take(), said);
  log = await readLog(client, runId);
});

test("a log with an approval gives right events of both surfaces", async () => {
  expect(log.map(({ payload }) => payload.case)).toContain("approvalRequested");
  await expectFolds(log);
});

describe.each(clients)("$name", ({ Agent, isV1 }) => {
  /** Runs a client over the events, and returns the state that it has afterwards. */
  async function readState(events: readonly object[]): Promise<unknown> {
    const frames = events.map((event) => printFrame("0", event as never)).join("");
    const headers = { "content-type": "text/event-stream" };
    const agent = openAgent(Agent, "http://unused.invalid", { fetch: async () => new Response(frames, { headers }) });
    agent.setState({ theirs: 1 });
    ask(agent, "1");
    await agent.runAgent();
    return agent.state;
  }

  test("changes of state arrive as a snapshot and patches, and the client's own keys stay", async () => {
    const fold = openFold(isV1, { theirs: 1 });
    const events = [...fold.open(), ...log.flatMap((result) => fold.take(result))];
    expect(events.map(({ type }) => type).filter((type) => type.startsWith("STATE_"))).toEqual([
      "STATE_SNAPSHOT",
      "STATE_DELTA",
      "STATE_DELTA",
      "STATE_DELTA",
    ]);
    expect(await readState(events)).toEqual({ theirs: 1, runnel: changed });
  });

  test("a client that joins at any place has the same state in the end", async () => {
    for (const place of log.keys()) {
      const fold = openFold(isV1, { theirs: 1 });
      for (const result of log.slice(0, place)) {
        fold.take(result);
      }
      const rest = [...fold.open(), ...fold.join(), ...log.slice(place).flatMap((result) => fold.take(result))];
      expect(await readState(rest)).toEqual({ theirs: 1, runnel: changed });
    }
  });
});
