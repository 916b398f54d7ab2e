// A reader skips the unknown events, items and parts of a response, and its last part counts them. Known ones do not count.

import { expect, onTestFinished, test } from "vitest";
import { withEvents } from "../../src/agent/models/with-events.ts";
import { createEvents } from "../../src/platform/telemetry/events.ts";
import { createMetrics } from "../../src/platform/telemetry/metrics.ts";
import { onMessages } from "../fakes/anthropic-provider.ts";
import { onGemini } from "../fakes/gemini-provider.ts";
import { onChat } from "../fakes/provider.ts";
import { onResponses } from "../fakes/responses-provider.ts";
import type { Script } from "../fakes/wire-server.ts";
import { openWireServer } from "../fixtures.ts";
import { createManualClock } from "../harness/manual-clock.ts";
import { parseMetrics } from "../telemetry/read-metrics.ts";
import { openTestLog } from "../telemetry/test-log.ts";
import { anthropicStage } from "./anthropic-stage.ts";
import { chatStage } from "./chat-stage.ts";
import { geminiStage } from "./gemini-stage.ts";
import { responsesStage } from "./openai-responses-stage.ts";
import { play } from "./play.ts";
import { request } from "./request.ts";
import type { ProviderStage } from "./stage.ts";
import { stages } from "./stages.ts";

async function open(stage: ProviderStage, script: Script) {
  const server = await openWireServer(() => script);
  const clock = createManualClock();
  const provider = stage.open({ origin: server.origin, apiKey: "", clock });
  onTestFinished(() => provider.close());
  return { clock, model: provider.model(stage.modelName) };
}

const long = `new\u0000_${"thing".repeat(100)}`;

const unknown: readonly [ProviderStage, Script, object][] = [
  [
    anthropicStage,
    onMessages((wire) => {
      wire.start();
      wire.frame({ type: "ping" });
      wire.frame({ type: "new_event" });
      wire.open({ type: "new_block", data: 1 });
      wire.close();
      wire.text("Hello.");
      wire.open({ type: "text", text: "" });
      wire.delta({ type: "new_delta", data: 1 });
      wire.delta({ type: "new_delta", data: 2 });
      wire.close();
      wire.done("end_turn");
    }),
    { events: 1, items: 1, parts: 2, type: "new_event" },
  ],
  [
    responsesStage,
    onResponses((wire) => {
      wire.event(`response.${long}`, {});
      wire.event("response.web_search_call.searching", { item_id: "ws_1" });
      wire.event("response.new_thing.delta", { delta: "x" });
      wire.event("response.output_item.done", {
        output_index: 0,
        item: { type: "message", id: "m", content: [{ type: "new_part" }, { type: "output_text", text: "Hello." }] },
      });
      wire.completed();
    }),
    { events: 2, items: 0, parts: 1, type: `response.${long}`.slice(0, 64).replace("\u0000", "") },
  ],
  [
    chatStage,
    onChat((wire) => {
      wire.frame({ progress: 1 }, "new.event");
      wire.delta({
        content: [
          { type: "new_part", x: 1 },
          { type: "text", text: "Hello." },
        ],
      });
      wire.done("stop");
    }),
    { events: 1, items: 0, parts: 1, type: "new.event" },
  ],
  [
    geminiStage,
    onGemini((wire) => {
      wire.frame({ newMember: 1 });
      wire.frame({ responseId: "r", modelVersion: "m" });
      wire.parts([{ thoughtSignature: "QQ==", newPart: {} }, { text: "Hello." }]);
      wire.finish("STOP");
    }),
    { events: 1, items: 0, parts: 1, type: "newMember" },
  ],
];

test.each(unknown)("a response of $name says what was skipped of it", async (stage, script, skipped) => {
  const { parts } = await play(stage, script);
  expect(parts.map((part) => (part.type === "text" ? part.text : "")).join("")).toBe("Hello.");
  expect(parts.at(-1)).toMatchObject({ type: "finish", skipped });
});

test.each(stages)("a response of $name that is known says nothing", async (stage) => {
  const call = { id: "call_1", name: "search", args: { q: 1 } };
  for (const script of [stage.say("a", "b"), stage.call(call), stage.think("hm", "b"), stage.end("a", "length")]) {
    expect((await play(stage, script)).parts.at(-1)).toMatchObject({ type: "finish" });
    expect((await play(stage, script)).parts.at(-1)).not.toHaveProperty("skipped.type");
  }
});

test("a failure says it too", async () => {
  const script = onMessages((wire) => {
    wire.start();
    wire.frame({ type: "new_event" });
    wire.error("overloaded_error", "Overloaded");
  });
  expect((await play(anthropicStage, script)).parts.at(-1)).toMatchObject({ type: "failure", skipped: { events: 1 } });
});

test("an operator gets one event for each such response, and its counts", async () => {
  const log = openTestLog();
  const [stage, script] = unknown[0] ?? expect.unreachable();
  const { clock, model } = await open(stage, script);
  const metrics = createMetrics({ version: "1.2.3", commit: "0123abc", toolNames: [], clock });
  const watched = withEvents(model, { clock, events: createEvents(log.logger, metrics.listeners) });
  await Array.fromAsync(watched.stream(request, new AbortController().signal));
  const lines = log.lines().filter(({ msg }) => msg === "model.frames_skipped");
  const counts = { events: 1, items: 1, parts: 2, type: "new_event" };
  expect(lines).toMatchObject([{ level: 20, provider: "anthropic", model: stage.modelName, ...counts }]);
  const { text, value } = parseMetrics(await metrics.print());
  expect(value('runnel_llm_frames_skipped_total{provider="anthropic",kind="part"}')).toBe(2);
  // A type is a text of the provider.
  expect(text).not.toContain("new_event");
});
