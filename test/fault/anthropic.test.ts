// Messages under the death of a process, by the official client of Anthropic's API.

import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { anthropicClient } from "../anthropic/stage.ts";
import { answer, hangAfter } from "../fakes/provider.ts";
import { until } from "../harness/wait.ts";
import { openCluster, openProvider } from "./cluster.ts";
import { expectInvariants } from "./invariants.ts";

test("a takeover in mid-sentence ends a stream, and the same request with its key has the text of the same run", async () => {
  const { provider, environment } = await openProvider();
  const { promise: asked, resolve: goOn } = Promise.withResolvers<void>();
  provider.respond(hangAfter("The "), async (wire, request) => {
    await asked;
    await answer("The whole sentence")(wire, request);
  });
  const cluster = await openCluster(environment);
  const owner = await cluster.start();
  const ask = ({ url }: { readonly url: string }) =>
    anthropicClient(url).messages.stream(
      { model: "openai:fake", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
      { headers: { "idempotency-key": "once", "runnel-session": "talk" } },
    );
  const first = ask(owner);
  let said = "";
  first.on("text", (text) => {
    said += text;
  });
  const ended = first.done().catch((error: unknown) => error);
  await until("the half sentence", () => said === "The ");
  const other = await cluster.startHere();
  const second = ask(other);
  const failed = second.done().catch((error: unknown) => error);
  await until("the half sentence for another reader", () => second.currentMessage?.content.length === 1);
  await owner.kill();
  expect(await ended).toBeInstanceOf(Anthropic.AnthropicError);
  expect(await failed).toMatchObject({ error: { error: { type: "overloaded_error" } } });
  const third = ask(other);
  await third.withResponse();
  goOn();
  expect(await third.finalText()).toBe("The whole sentence");
  await expectInvariants(cluster.databaseUrl);
});
