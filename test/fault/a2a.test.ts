// A streamed task of A2A under the death of its replica, by the official client: the task as it is on another replica, and what comes
// after it, are the whole output, once.

import { expect, test } from "vitest";
import { as, bindings, connect, say, TaskReader, textOf } from "../a2a/stage.ts";
import { answer, hangAfter } from "../fakes/provider.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";

test.for(bindings)("%s: a client whose replica was killed subscribes on another one", async (binding) => {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("The who"), answer("The whole sentence"));
  const cluster = await openCluster(environment);
  const dying = await cluster.start();
  const reader = new TaskReader();
  const reading = (async () => {
    const client = await connect(dying.url, binding);
    for await (const event of client.sendMessageStream(say("Say it."), as())) {
      reader.take(event);
      if (reader.text === "The who") {
        await dying.kill();
      }
    }
  })();
  await expect(reading).rejects.toThrow();
  expect(reader.state).toBe(2);

  const client = await connect((await cluster.startHere()).url, binding);
  for await (const event of client.resubscribeTask({ tenant: "", id: reader.taskId }, as())) {
    reader.take(event);
  }
  expect([reader.text, reader.state]).toEqual(["The whole sentence", 3]);
  const { artifacts } = await client.getTask({ tenant: "", id: reader.taskId, historyLength: 0 }, as());
  expect(artifacts.map(({ parts }) => textOf(parts))).toEqual(["The whole sentence"]);
  await expectInvariants(cluster.databaseUrl);
});
