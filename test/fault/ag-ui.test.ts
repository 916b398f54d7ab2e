// AG-UI runs under the deaths of processes: the sentence is whole, and there once.

import { type BaseEvent, HttpAgent } from "@ag-ui/client";
import { expect, test } from "vitest";
import { openAgent, textsOf } from "../ag-ui/stage.ts";
import { answer, hangAfter } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";

test("a kill and a takeover in mid-sentence: a client on another replica has one sentence", async () => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("The who"), answer("The whole sentence"));
  const cluster = await openCluster(environment);
  const owner = await cluster.start();
  // By hand: a client of 1.0.0 under Node does not survive the cut of its connection.
  const messages = [{ id: "u1", role: "user", content: "Hi" }];
  const starting = await fetch(`${owner.url}/v1/ag-ui/default`, {
    method: "POST",
    headers: { ...credentialsOf(), "content-type": "application/json" },
    body: JSON.stringify({ threadId: "thread-1", runId: "r1", protocolVersion: "1.0", messages }),
  });
  expect(starting.status).toBe(200);
  const cut = starting.text().catch(() => "cut");
  const other = await cluster.startHere();
  const joining = openAgent(HttpAgent, other.url);
  const heard: BaseEvent[] = [];
  const joined = joining.runAgent({ runId: "r1" }, { onEvent: ({ event }) => void heard.push(event) });
  await until("the snapshot", () => heard.some(({ type }) => type === "TEXT_MESSAGE_START"));
  await owner.kill();
  await joined;
  expect(textsOf(joining)).toEqual([
    ["user", "Hi"],
    ["assistant", "The whole sentence"],
  ]);
  expect(heard.filter(({ type }) => type === "MESSAGES_SNAPSHOT")).toHaveLength(2);
  expect(await cut).toBe("cut");
  await expectInvariants(cluster.databaseUrl);
});
