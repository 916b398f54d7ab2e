// The stop sequence that ended an answer, of each provider that names it.

import { expect, test } from "vitest";
import { onMessages } from "../fakes/anthropic-provider.ts";
import type { Script } from "../fakes/wire-server.ts";
import { hello, setAnthropicStage } from "./stage.ts";

const endClaude = onMessages((wire) => {
  wire.start();
  wire.text("Hi");
  const delta = { stop_reason: "stop_sequence", stop_sequence: "END" };
  wire.frame({ type: "message_delta", delta, usage: {} }, "message_delta");
  wire.done();
});

const endChat =
  (named: object): Script =>
  (wire) => {
    wire.frame({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop", ...named }] });
    wire.raw("data: [DONE]\n\n");
  };

const claude = "claude-opus-5";

test.each<[string, string, Script, string | null]>([
  ["Claude", claude, endClaude, "END"],
  ["vLLM", hello.model, endChat({ stop_reason: "END" }), "END"],
  ["SGLang", hello.model, endChat({ matched_stop: "END" }), "END"],
  ["a token of vLLM's has no text", hello.model, endChat({ stop_reason: 128_009 }), null],
])("%s", async (_name, model, script, sequence) => {
  const { claude: messages, provider, client } = await setAnthropicStage();
  const server = model === claude ? messages : provider;
  server.respond(script, script);
  const request = { ...hello, model, stop_sequences: ["END"] };
  const expected = { stop_reason: sequence === null ? "end_turn" : "stop_sequence", stop_sequence: sequence };
  expect(await client.messages.create(request)).toMatchObject(expected);
  expect(await client.messages.stream(request).finalMessage()).toMatchObject(expected);
});
