// `POST /v1/responses/compact` by the official client.

import OpenAI from "openai";
import { expect, test } from "vitest";
import { stopAfter } from "../fakes/provider.ts";
import { fail } from "../fakes/wire-server.ts";
import { query } from "../harness/database.ts";
import { until } from "../harness/wait.ts";
import { setOpenAiStage, speak } from "./stage.ts";

const model = "gpt-4o-mini";
const conversation: OpenAI.Responses.ResponseInputItem[] = [
  { role: "user", content: "Weather in Rome?" },
  { type: "function_call", call_id: "call_1", name: "get_weather", arguments: '{"city":"Rome"}' },
  { type: "function_call_output", call_id: "call_1", output: "sunny" },
  { role: "assistant", content: "It is sunny." },
  { role: "user", content: "Thanks" },
];

test("a conversation becomes the messages of its user and a summary, which the next request gives back", async () => {
  const { client, provider, service } = await setOpenAiStage();
  provider.respond(speak("Rome is ", "sunny."), speak("You are welcome."));
  const compacted = await client.responses.compact({ model, input: conversation, instructions: "Be brief." });
  expect(compacted).toMatchObject({
    id: expect.stringMatching(/^resp_/),
    object: "response.compaction",
    output: [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Weather in Rome?" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Thanks" }] },
      { type: "compaction", id: expect.stringMatching(/^cmp_/), encrypted_content: expect.any(String) },
    ],
    usage: { input_tokens: 7, output_tokens: 2, total_tokens: 9 },
  });
  const { body } = await provider.request(0);
  expect(body.tools).toBeUndefined();
  expect(body.messages.map(({ role, content }) => [role, content])).toEqual([
    ["system", expect.stringMatching(/^Be brief\.\n\nAnother model/)],
    ["user", "Weather in Rome?"],
    ["assistant", 'Call call_1 of the tool get_weather: {"city":"Rome"}'],
    ["user", "Result of the call call_1:\nsunny"],
    ["assistant", "It is sunny."],
    ["user", "Thanks"],
    ["user", expect.stringMatching(/^Sum up/)],
  ]);
  const input = [...compacted.output, { role: "user", content: "Bye" }] as OpenAI.Responses.ResponseInputItem[];
  expect((await client.responses.create({ model, input })).output_text).toBe("You are welcome.");
  expect((await provider.request(1)).body.messages.map(({ content }) => content)).toEqual([
    "Weather in Rome?",
    "Thanks",
    "Summary of the conversation so far:\nRome is sunny.",
    "Bye",
  ]);
  const sessions = () => query(service.databaseUrl, "select from session where delete_time is null");
  await until("the session of the summary to be deleted", async () => (await sessions()).length === 1);
});

test("a previous response is summed up with what came before it, and nothing that came after", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(speak("One."), speak("Two."), speak("A summary."));
  const first = await client.responses.create({ model, input: "1" });
  await client.responses.create({ model, input: "2", previous_response_id: first.id });
  const { output } = await client.responses.compact({ model, previous_response_id: first.id });
  expect(output.map(({ type }) => type)).toEqual(["message", "compaction"]);
  expect((await provider.request(2)).body.messages.map(({ content }) => content).slice(1, -1)).toEqual(["1", "One."]);
});

test("a failure of the model, and a summary that is cut off or empty, lose nothing", async () => {
  const { client, provider } = await setOpenAiStage();
  provider.respond(
    fail(400, '{"error":{"message":"too long","code":"context_length_exceeded"}}'),
    stopAfter("Rome is", "length"),
    speak(""),
  );
  const compact = () => client.responses.compact({ model, input: conversation });
  await expect(compact()).rejects.toThrow(OpenAI.BadRequestError);
  await expect(compact()).rejects.toThrow("The model has written no whole summary");
  await expect(compact()).rejects.toThrow("The model has written no whole summary");
});

test("nothing to sum up, a response of another client and a summary of another service are refused", async () => {
  const { client } = await setOpenAiStage();
  const unknown = `resp_${"0".repeat(32)}`;
  await expect(client.responses.compact({ model })).rejects.toMatchObject({ status: 400, param: "input" });
  await expect(client.responses.compact({ model, previous_response_id: unknown })).rejects.toMatchObject({
    status: 400,
    code: "previous_response_not_found",
  });
  const foreign = { type: "compaction", encrypted_content: "gAAAA" } as const;
  await expect(client.responses.create({ model, input: [foreign] })).rejects.toMatchObject({
    status: 400,
    param: "input[0].encrypted_content",
  });
  await expect(client.responses.create({ model })).rejects.toMatchObject({ status: 400, param: "input" });
});
