// A proxy that asks its provider again in the middle of a text sends a second message in one stream. The first one is void, as the
// output of a lost replica is, and the second counts.

import type OpenAI from "openai";
import { expect, test } from "vitest";
import { onMessages } from "../fakes/anthropic-provider.ts";
import { webSearches } from "../fakes/web-search.ts";
import type { Script } from "../fakes/wire-server.ts";
import { expectInvariants } from "../fault/invariants.ts";
import { openWireServer } from "../fixtures.ts";
import { startService } from "../harness/service.ts";
import { lastResponse, openAiClient } from "../openai/stage.ts";
import { everySurface } from "./every-surface.ts";
import { readSession, startConversation } from "./stage.ts";

const [anthropic] = webSearches;
const { model = "", flags = () => ({}) } = anthropic ?? expect.unreachable();

async function setStage(...scripts: readonly Script[]) {
  const server = await openWireServer();
  server.respond(...scripts);
  const service = await startService(flags(server.origin));
  return { service, api: everySurface.connect(service), client: openAiClient(service.url) };
}

/** A message whose text breaks off, and another one. */
const twice: Script = onMessages((wire) => {
  wire.start();
  wire.open({ type: "text", text: "" });
  wire.delta({ type: "text_delta", text: "It is rai" });
  wire.frame({ type: "message_start", message: { id: "msg_again", content: [], usage: { input_tokens: 1 } } });
  wire.text("It is sunny.");
  wire.done("end_turn");
});

const callTool: Script = onMessages((wire) => {
  wire.start();
  wire.toolUse("toolu_1", "list_dir", "{}");
  wire.done("tool_use");
});

const firstTurn = ["turn.started", "message.completed", "tool.call.started", "tool.call.completed"];

test.each([
  ["the first turn", [twice], []],
  ["a later turn, which leaves the turns before it", [callTool, twice], firstTurn],
])("void text of %s is named in the log, and the output has none of it", async (_, scripts, before) => {
  const { service, api } = await setStage(...scripts);
  const { runId, sessionId } = await startConversation(api, { tools: { builtin: ["list_dir"] } });
  const results = await Array.fromAsync(api.followRun(runId));
  const again = ["turn.started", "message.delta"];
  const end = ["message.completed", "run.completed"];
  expect(results.map(({ type }) => type)).toEqual([...before, ...again, "turn.restarted", ...again, ...end]);
  const turn = scripts.length;
  const restarted = results.find(({ type }) => type === "turn.restarted");
  expect(restarted?.payload).toMatchObject({ turn, from_sequence: before.length + 1 });
  const text = "It is sunny.";
  expect(results.at(-1)?.payload).toMatchObject({ message: { text } });
  const events = await readSession(api, sessionId);
  expect(events.at(-1)?.payload).toMatchObject({ status: "completed", output: text, turns: turn });
  const { messages } = await api.listMessages({ sessionId });
  expect(messages.at(-1)).toMatchObject({ message: { text } });
  await expectInvariants(service.databaseUrl);
});

test("the official client of OpenAI gets the second text as the answer, and the first as incomplete", async () => {
  const { client } = await setStage(twice, twice, twice);
  const whole = await client.responses.create({ model, input: "weather?" });
  expect(whole.output_text).toBe("It is sunny.");
  const stream = client.responses.stream({ model, input: "weather?" });
  const events: OpenAI.Responses.ResponseStreamEvent[] = await Array.fromAsync(stream);
  const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
  expect(done).toMatchObject([{ status: "incomplete" }, { status: "completed" }]);
  expect(lastResponse(events)).toMatchObject({ status: "completed" });
  const chat = await client.chat.completions.create({ model, messages: [{ role: "user", content: "weather?" }] });
  expect(chat.choices[0]?.message.content).toBe("It is sunny.");
});

test("a chat that has sent the first text fails, because it cannot take it back", async () => {
  let isSeen = (): void => undefined;
  const seen = new Promise<void>((resolve) => {
    isSeen = resolve;
  });
  const slow = onMessages(async (wire) => {
    wire.start();
    wire.open({ type: "text", text: "" });
    wire.delta({ type: "text_delta", text: "It is rai" });
    await seen;
    wire.frame({ type: "message_start", message: { id: "msg_again", content: [] } });
    wire.text("It is sunny.");
    wire.done("end_turn");
  });
  const { client } = await setStage(slow);
  const messages = [{ role: "user" as const, content: "weather?" }];
  const chunks = await client.chat.completions.create({ model, messages, stream: true });
  const read = async (): Promise<void> => {
    for await (const { choices } of chunks) {
      if (choices[0]?.delta.content === "It is rai") {
        isSeen();
      }
    }
  };
  await expect(read()).rejects.toMatchObject({ code: "run_restarted" });
});
