// Bodies that no program sends: each gets an answer of the API, and none an internal error.

import { expect, test } from "vitest";
import { oddBodies, oddValues } from "../harness/odd-values.ts";
import { hello, setAnthropicStage, speak, weather } from "./stage.ts";

const odd: readonly unknown[] = [
  ...oddValues,
  [{ type: "tool_use", id: 1, name: 2, input: [] }],
  [{ type: "tool_result", tool_use_id: null }],
  [{ type: "thinking", thinking: 1, signature: "runnel1.e30" }],
  [{ type: "redacted_thinking", data: "runnel1.AAAA" }],
  [{ type: "image", source: { type: "base64", media_type: "x", data: "%" } }],
  [{ type: "document", source: { type: "content", content: [{ type: "x" }] } }],
  [{ type: "web_search_tool_result", content: null }],
];

const places: readonly ((value: unknown) => object)[] = [
  (value) => ({ ...hello, model: value }),
  (value) => ({ ...hello, max_tokens: value }),
  (value) => ({ ...hello, messages: value }),
  (value) => ({ ...hello, messages: [value] }),
  (value) => ({ ...hello, messages: [{ role: "user", content: value }] }),
  (value) => ({ ...hello, messages: [...hello.messages, { role: "assistant", content: value }] }),
  (value) => ({ ...hello, system: value }),
  (value) => ({ ...hello, tools: [value] }),
  (value) => ({ ...hello, tools: [{ ...weather, input_schema: value }] }),
  (value) => ({ ...hello, tools: [weather], tool_choice: value }),
  (value) => ({ ...hello, thinking: value, thread: value }),
  (value) => ({ ...hello, output_config: value }),
  (value) => ({ ...hello, output_config: { format: { type: "json_schema", schema: value }, effort: value } }),
  (value) => ({ ...hello, stop_sequences: value, temperature: value, stream: value }),
];

test("no body gives an internal error", async () => {
  const { post, provider, service } = await setAnthropicStage({ rateLimitRps: 10_000, rateLimitBurst: 10_000 });
  const bodies = [...oddBodies, '{"model":"gpt-4o","max_tokens":1e999}'];
  for (const at of places) {
    bodies.push(...odd.map((value) => JSON.stringify(at(value))));
  }
  expect(bodies.length).toBeGreaterThan(200);
  provider.respond(...bodies.map(() => speak("ok")));
  for (const body of bodies) {
    const response = await post(body);
    const text = await response.text();
    expect([response.status < 500, body, text]).toEqual([true, body, text]);
    if (response.status !== 200) {
      expect(JSON.parse(text)).toMatchObject({ type: "error", error: { type: expect.any(String) } });
    }
  }
  expect((await fetch(`${service.url}/healthz`)).status).toBeLessThan(500);
}, 60_000);
