// Which messages of a conversation a model sees when not all of them fit.

import fc, { array, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import { fitMessages } from "../../src/agent/loop/window.ts";
import type { ModelMessage } from "../../src/agent/models/model.ts";

const user = (text: string): ModelMessage => ({ role: "user", text });
const says = (text: string, ...ids: string[]): ModelMessage => ({
  role: "assistant",
  text,
  toolCalls: ids.map((id) => ({ id, name: "t", argumentsJson: "{}" })),
});
const result = (id: string, text = "r"): ModelMessage => ({ role: "tool", toolCallId: id, toolName: "t", text });
const long = "x".repeat(400);

function shownTexts(messages: readonly ModelMessage[], tokensMax: number): string[] {
  return fitMessages(messages, tokensMax).map(({ text }) => text.slice(0, 3));
}

test("all messages are shown while they fit", () => {
  const messages = [user("a"), says("b"), user("c")];
  expect(fitMessages(messages, 1_000)).toBe(messages);
});

test("the oldest exchanges are dropped first, as a whole, but never the first message", () => {
  const messages = [
    user("u1"),
    says(`a1${long}`, "1"),
    result("1"),
    says("b1"),
    user(`u2${long}`),
    says("a2"),
    user("u3"),
    says("a3"),
    user("u4"),
  ];
  expect(shownTexts(messages, 180)).toEqual(["u1", "u2x", "a2", "u3", "a3", "u4"]);
  expect(shownTexts(messages, 60)).toEqual(["u1", "u3", "a3", "u4"]);
});

test("the run's own turns are dropped next, each with all its results, but never the newest one", () => {
  const messages = [
    user("u1"),
    says("a1"),
    user("u2"),
    says("t1", "1", "2"),
    result("1", long),
    result("2", long),
    says("t2", "3"),
    result("3", long),
    says("t3", "4"),
    result("4", long),
  ];
  expect(shownTexts(messages, 250)).toEqual(["u1", "u2", "t2", "xxx", "t3", "xxx"]);
  expect(shownTexts(messages, 1)).toEqual(["u1", "u2", "t3", "xxx"]);
});

test("calls and results stay together and in order, with the first message and the run's own, for any window", () => {
  const turn = record({ calls: integer({ min: 0, max: 3 }), size: integer({ min: 1, max: 600 }) });
  const exchange = array(turn, { minLength: 1, maxLength: 4 });
  fc.assert(
    property(
      array(exchange, { minLength: 1, maxLength: 6 }),
      integer({ min: 1, max: 2_000 }),
      (exchanges, tokensMax) => {
        const messages = exchanges.flatMap((turns, index) => [
          user(`ask ${index}`),
          ...turns.flatMap(({ calls, size }, place) => {
            const ids = Array.from({ length: calls }, (_, position) => `${index}-${place}-${position}`);
            return [says("y".repeat(size), ...ids), ...ids.map((id) => result(id))];
          }),
        ]);
        const shown = fitMessages(messages, tokensMax);
        expect(shown).toEqual(messages.filter((message) => shown.includes(message)));
        expect(shown[0]).toBe(messages[0]);
        expect(shown).toContain(messages.findLast(({ role }) => role === "user"));
        expect(shown.at(-1)).toBe(messages.at(-1));
        const open: string[] = [];
        for (const message of shown) {
          if (message.role === "tool") {
            expect(open.shift()).toBe(message.toolCallId);
          } else {
            expect(open).toEqual([]);
            open.push(...(message.role === "assistant" ? message.toolCalls.map(({ id }) => id) : []));
          }
        }
        expect(open).toEqual([]);
      },
    ),
  );
});
