// Responses under the deaths of processes, by the official client of OpenAI's API: the final text is whole, and there once.

import type OpenAI from "openai";
import { expect, test } from "vitest";
import { hangAfter } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { openAiClient } from "../openai/stage.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;

const sentence = ["The ", "whole ", "sentence"];

/** A provider that stops in the middle of the sentence at its first request, and says all of it at the next one. */
async function openHaltingProvider() {
  const { provider, environment } = await openProvider();
  provider.respond(hangAfter("The ", "who"), (wire) => {
    for (const piece of sentence) {
      wire.text(piece);
    }
    wire.done("stop");
  });
  return { provider, environment };
}

function idOf(events: readonly Event[]): string {
  const [created] = events;
  return created?.type === "response.created" ? created.response.id : "";
}

test("a takeover in mid-sentence: the helper on another replica completes, with the text once", async () => {
  const { environment } = await openHaltingProvider();
  const cluster = await openCluster(environment);
  const owner = await cluster.start();
  const { id } = await openAiClient(owner.url).responses.create({
    model: "openai:fake",
    input: "Hi",
    background: true,
  });
  const other = await cluster.startHere();
  const stream = openAiClient(other.url).responses.stream({ response_id: id });
  const types: string[] = [];
  stream.on("event", ({ type }) => types.push(type));
  const final = stream.finalResponse();
  await until("the half sentence", () => types.includes("response.output_text.delta"));
  await owner.kill();
  expect((await final).output_text).toBe(sentence.join(""));
  const { output } = await openAiClient(other.url).responses.retrieve(id);
  expect(output).toMatchObject([{ type: "message", content: [{ text: sentence.join("") }] }]);
  await expectInvariants(cluster.databaseUrl);
});

test("a stream that a kill has cut goes on with starting_after: no event is lost, and none comes twice", async () => {
  const { environment } = await openHaltingProvider();
  const cluster = await openCluster(environment);
  const first = await cluster.start();
  const seen: Event[] = [];
  const reading = (async () => {
    const stream = await openAiClient(first.url).responses.create({ model: "openai:fake", input: "Hi", stream: true });
    for await (const event of stream) {
      seen.push(event);
    }
  })();
  await until("the half sentence", () => seen.some(({ type }) => type === "response.output_text.delta"));
  const cut = expect(reading).rejects.toThrow();
  await first.kill();
  await cut;

  const { url } = await cluster.startHere();
  const after = seen.at(-1)?.sequence_number ?? 0;
  const rest = await Array.fromAsync(
    await openAiClient(url).responses.retrieve(idOf(seen), { stream: true, starting_after: after }),
  );
  const all = [...seen, ...rest];
  expect(all.map((event) => event.sequence_number)).toEqual(all.map((_, index) => index));
  expect(await Array.fromAsync(await openAiClient(url).responses.retrieve(idOf(seen), { stream: true }))).toEqual(all);
  const last = all.at(-1);
  expect(last).toMatchObject({
    type: "response.completed",
    response: { output: [{ content: [{ text: "The whole sentence" }] }] },
  });
  await expectInvariants(cluster.databaseUrl);
});

test("a background response survives a kill between two polls", async () => {
  const { environment } = await openHaltingProvider();
  const cluster = await openCluster(environment);
  const first = await cluster.start();
  const { id } = await openAiClient(first.url).responses.create({
    model: "openai:fake",
    input: "Hi",
    background: true,
  });
  await until(
    "the run to begin",
    async () => (await openAiClient(first.url).responses.retrieve(id)).status === "in_progress",
  );
  await first.kill();
  const { url } = await cluster.startHere();
  await until("the end", async () => (await openAiClient(url).responses.retrieve(id)).status === "completed");
  expect((await openAiClient(url).responses.retrieve(id)).output_text).toBe(sentence.join(""));
});
