// The transcript in the form that models require: each call answered exactly once, right after it, and everything in order.

import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { assistantMessage, modelMessages, toolMessage } from "../../src/agent/loop/history.ts";
import type { ModelMessage } from "../../src/agent/models/model.ts";

/** The number of calls of an assistant message, and how many were answered before its run ended. */
interface Exchange {
  readonly said: string;
  readonly calls: number;
  readonly answered: number;
}

const exchange: fc.Arbitrary<Exchange> = fc
  .record({ said: fc.string(), calls: fc.nat({ max: 4 }), answered: fc.nat({ max: 4 }) })
  .map((each) => ({ ...each, answered: Math.min(each.answered, each.calls) }));

function transcriptOf(exchanges: readonly Exchange[]): Message[] {
  return exchanges.flatMap(({ said, calls, answered }, index) => {
    const ids = Array.from({ length: calls }, (_, position) => `${index}-${position}`);
    const toolCalls = ids.map(
      (id) => create(MessageSchema, { toolCalls: [{ id, name: "list_dir", arguments: "{}" }] }).toolCalls,
    );
    return [
      create(MessageSchema, { role: "user", content: { case: "text", value: `ask ${index}` } }),
      assistantMessage({ text: said, toolCalls: toolCalls.flat(), state: undefined }),
      ...ids.slice(0, answered).map((id) => answer(id)),
    ];
  });
}

function answer(id: string, ending: { result?: string; error?: string } = { result: '{"content":"ok"}' }): Message {
  return toolMessage(create(ToolCallCompletedSchema, { toolCallId: id, toolName: "list_dir", ...ending }));
}

test("every call has one answer before the next message, in order, also where a run was cut off", () => {
  fc.assert(
    fc.property(fc.array(exchange, { maxLength: 8 }), (exchanges) => {
      const messages = modelMessages(transcriptOf(exchanges));
      for (const [index, message] of messages.entries()) {
        if (message.role !== "assistant") {
          continue;
        }
        const ids = message.toolCalls.map((call) => call.id);
        const answers = messages.slice(index + 1, index + 1 + ids.length);
        expect(answers.map((each) => each.role === "tool" && each.toolCallId)).toEqual(ids);
        expect(messages[index + 1 + ids.length]?.role).not.toBe("tool");
      }
      expect(messages.filter((message) => message.role !== "tool").map(textOf)).toEqual(
        exchanges.flatMap(({ said }, index) => [`ask ${index}`, said]),
      );
      const made = exchanges.reduce((sum, { calls }) => sum + calls, 0);
      expect(messages.filter((message) => message.role === "tool")).toHaveLength(made);
    }),
  );
});

test("a call that was never answered is reported to the model as interrupted", () => {
  const messages = modelMessages(transcriptOf([{ said: "", calls: 2, answered: 1 }]));
  expect(messages.slice(-2).map(textOf)).toEqual(["ok", expect.stringContaining("interrupted")]);
});

test.each([
  [{ result: '{"content":""}' }, "Operation completed"],
  [{ result: '{"content":"text"}' }, "text"],
  [{ error: "no such file" }, "Error: no such file"],
  [{ error: "" }, "Error: "],
])("an outcome of %j reads as %j", (ending, text) => {
  expect(modelMessages([answer("c", ending)]).map(textOf)).toEqual([text]);
});

function textOf(message: ModelMessage): string {
  return message.text;
}
