// A session whose next model is another one of the same provider: no provider accepts thoughts of another model, and each accepts what
// its tools have found.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAnthropic } from "../../src/agent/models/anthropic/provider.ts";
import { createGemini } from "../../src/agent/models/gemini/provider.ts";
import type { ModelMessage, ModelPart } from "../../src/agent/models/model.ts";
import { createOpenAiCompatible } from "../../src/agent/models/openai-compatible/provider.ts";
import { createOpenAiResponses } from "../../src/agent/models/openai-responses/provider.ts";
import type { Account, ModelProvider } from "../../src/agent/models/wire/account.ts";
import { onMessages } from "../fakes/anthropic-provider.ts";
import { onGemini } from "../fakes/gemini-provider.ts";
import { onChat } from "../fakes/provider.ts";
import { onResponses } from "../fakes/responses-provider.ts";
import type { Script, WireServer } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { callsOf, stateOf } from "./parts.ts";
import { request } from "./request.ts";

interface Way {
  readonly name: string;
  readonly open: (account: Account) => ModelProvider;
  /** The model that answers first, and the next one. */
  readonly models: readonly [string, string];
  /** A response with thoughts, a search of the provider where it has one, the text "Found." and a call of `alpha`. */
  readonly answer: Script;
  /** What only the model that wrote it may get. */
  readonly own: readonly string[];
  /** What every model of the provider gets. */
  readonly plain: readonly string[];
  /** What only another model gets. */
  readonly instead?: string;
}

const ways: readonly Way[] = [
  {
    name: "anthropic",
    open: createAnthropic,
    models: ["claude-sonnet-4-5", "claude-opus-4-5"],
    answer: onMessages((wire) => {
      wire.start();
      wire.thinking("c2lnbmF0dXJl", "a thought");
      wire.redactedThinking("b3BhcXVl");
      wire.open({ type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "x" } });
      wire.close();
      const found = [{ type: "web_search_result", url: "https://a.example", encrypted_content: "ZW5j" }];
      wire.open({ type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: found });
      wire.close();
      wire.text("Found.");
      wire.toolUse("call_1", "alpha", "{}");
      wire.done("tool_use");
    }),
    own: ["c2lnbmF0dXJl", "b3BhcXVl", "a thought"],
    plain: ['"srvtoolu_1","name":"web_search"', '"encrypted_content":"ZW5j"', '"Found."', '"name":"alpha"'],
  },
  {
    name: "openai with Responses",
    open: createOpenAiResponses,
    models: ["gpt-5", "gpt-5-mini"],
    answer: onResponses((wire) => {
      wire.event("response.created", { response: { model: "gpt-5-2026-01-01" } });
      wire.reasoning({ id: "rs_1", summary: ["a thought"], encrypted: "gAAA" });
      wire.item({ type: "compaction", id: "cmp_1", encrypted_content: "gBBB" });
      wire.item({ type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } });
      wire.text("Found.");
      wire.call({ id: "call_1", name: "alpha", arguments: "{}" });
      wire.completed();
    }),
    own: ["gAAA", "gBBB", "a thought"],
    plain: ['"id":"ws_1"', '"Found."', '"name":"alpha"'],
  },
  {
    name: "gemini",
    open: createGemini,
    models: ["gemini-3-pro-preview", "gemini-3-flash-preview"],
    answer: onGemini((wire) => {
      wire.thought("a thought");
      wire.parts([
        { executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: "QQ==" },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
        { toolCall: { toolType: "FILE_SEARCH", args: {}, id: "s1" }, thoughtSignature: "Qg==" },
        { toolResponse: { toolType: "FILE_SEARCH", response: {}, id: "s1" }, thoughtSignature: "Qw==" },
        { text: "Found.", thoughtSignature: "RA==" },
        { functionCall: { id: "call_1", name: "alpha", args: {} }, thoughtSignature: "RQ==" },
        { text: "", thoughtSignature: "Rg==" },
      ]);
      wire.finish("STOP");
    }),
    own: ["QQ==", "Qg==", "Qw==", "RA==", "RQ==", "Rg==", "a thought", "FILE_SEARCH", '{"text":""'],
    plain: ['"code":"print(1)"', '"output":"1"', '"Found."', '"name":"alpha"'],
    instead: "skip_thought_signature_validator",
  },
  {
    name: "compatible",
    open: createOpenAiCompatible,
    models: ["deepseek/deepseek-v4", "google/gemini-3-pro"],
    answer: onChat((wire) => {
      wire.delta({
        reasoning_content: "plain words",
        reasoning_details: [{ type: "reasoning.encrypted", data: "gAAA" }],
      });
      const signed = { extra_content: { google: { thought_signature: "QQ==" } } };
      wire.delta({ content: "Found." });
      wire.delta(
        { tool_calls: [{ index: 0, id: "call_1", function: { name: "alpha", arguments: "{}" }, ...signed }] },
        "tool_calls",
      );
      wire.done();
    }),
    own: ["gAAA", "QQ=="],
    plain: ['"reasoning_content":"plain words"', '"Found."', '"name":"alpha"'],
  },
];

describe.each(ways)("a response of $name", ({ open, models, answer, own, plain, instead = "no such text" }) => {
  const [first, other] = models;
  let server: WireServer;
  let provider: ModelProvider;

  beforeEach(async () => {
    server = await openWireServer(() => answer);
    provider = open({ name: "an-account", baseUrl: server.origin, apiKey: "", clock: createManualClock() });
  });
  afterEach(() => provider.close());

  async function ask(model: string, messages = request.messages): Promise<ModelPart[]> {
    const { signal } = new AbortController();
    return await Array.fromAsync(provider.model(model).stream({ ...request, messages }, signal));
  }

  /** Returns the messages of the second request. `alter` changes the state that the log has of the first response. */
  async function goOn(model: string, alter = (state: string): string => state): Promise<string> {
    const parts = await ask(first);
    const said: readonly ModelMessage[] = [
      { role: "assistant", text: "Found.", toolCalls: callsOf(parts), state: alter(stateOf(parts) ?? "") },
      { role: "tool", toolCallId: "call_1", toolName: "alpha", text: "one" },
    ];
    await ask(model, [...request.messages, ...said]);
    return (await server.request(1)).text;
  }

  test("goes back to its model whole, by the name that was asked for", async () => {
    const sent = await goOn(first);
    for (const text of [...own, ...plain]) {
      expect(sent).toContain(text);
    }
  });

  test("goes to another model without what is signed or encrypted", async () => {
    const sent = await goOn(other);
    expect(own.filter((text) => sent.includes(text))).toEqual([]);
    expect(plain.filter((text) => !sent.includes(text))).toEqual([]);
    expect(sent.includes(instead)).toBe(instead !== "no such text");
  });

  test("that an older version has written, without its model, goes back whole", async () => {
    const mark = `"model":${JSON.stringify(first)},`;
    const sent = await goOn(other, (state) => {
      expect(state).toContain(mark);
      return state.replace(mark, "");
    });
    expect(own.filter((text) => !sent.includes(text))).toEqual([]);
  });
});
