// Bodies that no program sends: each gets an answer of the API, and none an internal error, a loss, or something of another key.

import { expect, test } from "vitest";
import { credentialsOf } from "../harness/credentials.ts";
import { oddBodies, oddValues } from "../harness/odd-values.ts";
import { openAiClient, setOpenAiStage, speak } from "./stage.ts";

type Place = readonly [path: string, bodyOf: (value: unknown, foreign: string) => object];

const response = { model: "gpt-4o", input: "Hi" };
const user = { role: "user", content: "Hi" };
const chat = { model: "gpt-4o", messages: [user] };
const tool = { type: "function", name: "f", parameters: { type: "object" } };

const places: readonly Place[] = [
  ["responses", (value) => ({ ...response, model: value })],
  ["responses", (value) => ({ ...response, input: value })],
  ["responses", (value) => ({ ...response, input: [value] })],
  ["responses", (value) => ({ ...response, input: [{ role: "user", content: value }] })],
  ["responses", (value, id) => ({ ...response, input: [{ type: "item_reference", id: `msg_${id}_1` }, value] })],
  ["responses", (value) => ({ ...response, input: [{ type: "function_call_output", call_id: value, output: value }] })],
  ["responses", (value) => ({ ...response, input: [{ type: "reasoning", encrypted_content: value, summary: value }] })],
  ["responses", (value) => ({ ...response, tools: value })],
  ["responses", (value) => ({ ...response, tools: [{ ...tool, parameters: value }] })],
  ["responses", (value) => ({ ...response, tools: [{ type: "mcp", server_label: "a", server_url: value }] })],
  ["responses", (value) => ({ ...response, tools: [tool], tool_choice: value })],
  ["responses", (value) => ({ ...response, text: value, reasoning: value })],
  ["responses", (value) => ({ ...response, previous_response_id: value, conversation: value })],
  ["responses", (value, id) => ({ ...response, previous_response_id: `resp_${id}`, metadata: value })],
  ["responses", (value) => ({ ...response, temperature: value, stream: value, include: value })],
  ["responses/compact", (value) => ({ model: "gpt-4o", input: value })],
  ["responses/input_tokens", (value) => ({ ...response, input: value, tools: [value] })],
  ["conversations", (value) => ({ items: value, metadata: value })],
  ["chat/completions", (value) => ({ ...chat, messages: value })],
  ["chat/completions", (value) => ({ ...chat, messages: [{ role: "user", content: value }] })],
  ["chat/completions", (value) => ({ ...chat, messages: [user, { role: "assistant", tool_calls: value }] })],
  ["chat/completions", (value) => ({ ...chat, messages: [user, { role: value, content: "x", tool_call_id: value }] })],
  [
    "chat/completions",
    (value) => ({ ...chat, tools: [{ type: "function", function: value }], response_format: value }),
  ],
  ["chat/completions", (value) => ({ ...chat, stop: value, n: value, max_tokens: value })],
];

test("no body gives an internal error", { timeout: 120_000 }, async () => {
  const { provider, service } = await setOpenAiStage({ rateLimitRps: 10_000, rateLimitBurst: 10_000 });
  provider.respond(speak("a secret of another key"));
  const stranger = openAiClient(service.url, "stranger");
  const own = await stranger.responses.create({ ...response, input: "Hi" });
  const foreign = own.id.slice("resp_".length);
  const bodies: (readonly [string, string])[] = [];
  for (const [path, bodyOf] of places) {
    bodies.push(...oddValues.map((value) => [path, JSON.stringify(bodyOf(value, foreign))] as const));
    bodies.push(...oddBodies.map((body) => [path, body] as const));
  }
  provider.respond(...bodies.map(() => speak("ok")));
  for (const [path, body] of bodies) {
    const headers = { "content-type": "application/json", ...credentialsOf() };
    const answer = await fetch(`${service.url}/v1/${path}`, { method: "POST", headers, body });
    const text = await answer.text();
    expect([answer.status < 500, path, body, text]).toEqual([true, path, body, text]);
    expect(text).not.toContain("a secret");
    if (answer.status !== 200) {
      expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String), type: expect.any(String) } });
    }
  }
  expect(bodies.length).toBeGreaterThan(200);
  expect(provider.requests.map(({ text }) => text).join()).not.toContain("a secret");
  expect(await stranger.responses.retrieve(own.id)).toEqual(own);
});
