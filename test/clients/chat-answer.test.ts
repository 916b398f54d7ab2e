// What the chat shows of a run: a fold of its log, which agrees with the library for TypeScript and may be kept at any place.

import { fromJson } from "@bufbuild/protobuf";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { type Answer, emptyAnswer, takeEntry, textOf } from "../../clients/chat/src/answer.ts";
import type { Entry } from "../../clients/chat/src/entry.ts";
import { RunText } from "../../clients/typescript/src/text.ts";

type Payload = Omit<Entry, "sequence">;

function number(payloads: readonly Payload[]): Entry[] {
  return payloads.map((payload, index) => ({ sequence: index + 1, ...payload }));
}

/** The service sends texts that hold JSON as JSON. */
function toResult(entry: Entry): RunResult {
  const json = JSON.parse(JSON.stringify(entry), (key, value) =>
    key === "parameters" || key === "result" ? JSON.stringify(value) : value,
  );
  return fromJson(RunResultSchema, json);
}

function fold(entries: readonly Entry[], answer = emptyAnswer()): Answer {
  for (const entry of entries) {
    takeEntry(answer, entry);
  }
  return answer;
}

function shownText({ parts }: Answer): string {
  return parts.map((part) => (part.kind === "text" ? textOf(part) : "")).join("");
}

const delta = (content: string, replaces_text = false): Payload => ({
  message_delta: { chunk: { content, ...(replaces_text && { replaces_text }) } },
});
const started = (id: string): Payload => ({
  tool_call_started: { tool_call_id: id, tool_name: "add", parameters: {} },
});
const completed = (id: string): Payload => ({ tool_call_completed: { tool_call_id: id, result: { content: "2" } } });

const payloads: fc.Arbitrary<Payload> = fc.oneof(
  { arbitrary: fc.string({ minLength: 1, maxLength: 3 }).map((text) => delta(text)), weight: 6 },
  fc.string({ maxLength: 3 }).map((text) => delta(text, true)),
  fc.constant({ message_completed: { message: {} } }),
  fc.constant({ turn_started: {} }),
  fc.nat(20).map((from_sequence) => ({ turn_restarted: { from_sequence } })),
  fc.constantFrom("a", "b").map(started),
  fc.constantFrom("a", "b").map(completed),
);

/** A turn restarts from an entry that there is. */
const logs = fc
  .array(payloads, { maxLength: 30 })
  .map((each) => number(each).filter(({ sequence, turn_restarted: turn }) => (turn?.from_sequence ?? 1) <= sequence))
  .map((entries) => number(entries.map(({ sequence: _, ...payload }) => payload)));

test("it has the text of the library for TypeScript, over void turns and replaced texts", () => {
  fc.assert(
    fc.property(logs, (entries) => {
      const text = new RunText();
      for (const entry of entries) {
        text.add(toResult(entry));
      }
      expect(shownText(fold(entries))).toBe(String(text));
    }),
  );
});

test("kept at any place and read again, it ends the same", () => {
  fc.assert(
    fc.property(logs, fc.nat(30), (entries, place) => {
      const kept: Answer = JSON.parse(JSON.stringify(fold(entries.slice(0, place))));
      expect(fold(entries.slice(place), kept)).toEqual(fold(entries));
    }),
  );
});

test("a message without pieces is shown, and one with pieces once", () => {
  const whole: Payload = { message_completed: { message: { text: "Whole." } } };
  expect(shownText(fold(number([whole])))).toBe("Whole.");
  expect(shownText(fold(number([delta("Whole."), whole])))).toBe("Whole.");
  const parts: Payload = {
    message_completed: { message: { parts: { elements: [{ text: "In " }, {}, { text: "parts." }] } } },
  };
  expect(shownText(fold(number([parts])))).toBe("In parts.");
});

test("texts around a tool call stay apart, and a call of a void turn disappears", () => {
  const entries = number([{ turn_started: {} }, delta("Let me see."), started("a"), completed("a"), delta("Two.")]);
  const { parts } = fold(entries);
  expect(parts.map(({ kind }) => kind)).toEqual(["text", "tool", "text"]);
  expect(parts[1]).toMatchObject({ name: "add", state: "done", result: '{\n  "content": "2"\n}' });
  const restarted = fold([...entries, { sequence: 6, turn_restarted: { from_sequence: 1 } }]);
  expect(restarted.parts).toEqual([]);
});

test.each([
  [{ code: "cancelled" }, "stopped"],
  [{ code: "runner.error", model_error: { cause: "overloaded" } }, "busy"],
  [{ code: "runner.error", model_error: { cause: "context_length" } }, "too-long"],
  [{ code: "runner.error" }, "failed"],
])("a run that failed with %j is %s", (run_failed, end) => {
  const approval = { approval_requested: { tool_call_id: "a", tool_name: "add" } };
  expect(fold(number([approval, { run_failed }]))).toMatchObject({ end, approvals: [] });
});

test("an approval is asked for until its call has ended", () => {
  const approvals = ["a", "b"].map((id) => ({ approval_requested: { tool_call_id: id, tool_name: id } }));
  const entries = number([started("a"), started("b"), ...approvals, { run_waiting: {} }, completed("a")]);
  expect(fold(entries.slice(0, 5))).toMatchObject({
    isParked: true,
    approvals: [{ tool_name: "a" }, { tool_name: "b" }],
  });
  expect(fold(entries)).toMatchObject({ isParked: false, approvals: [{ tool_name: "b" }] });
  const action: Payload = { approval_requested: { action: "send_mail" } };
  expect(fold(number([action, { run_waiting: {} }]))).toMatchObject({ approvals: [{ action: "send_mail" }] });
  expect(fold(number([action, { run_waiting: {} }, delta("Sent.")])).approvals).toEqual([]);
});
