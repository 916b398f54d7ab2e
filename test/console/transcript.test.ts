// The rows that the console makes of a log in which a provider runs a tool in the middle of an answer.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { Transcript } from "../../src/platform/run-view/transcript.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const delta = (content: string): Payload => ({
  case: "messageDelta",
  value: { chunk: { role: "assistant", content } },
});
const message = (value: string): Payload => ({
  case: "messageCompleted",
  value: { message: { role: "assistant", content: { case: "text", value } } },
});
const call = { toolCallId: "c1", toolName: "web_search", runByProvider: true };
const search: readonly Payload[] = [
  { case: "toolCallStarted", value: { ...call, parameters: "{}" } },
  { case: "toolCallCompleted", value: { ...call, result: '{"content":[]}' } },
];

/** The text of a row, or the name of its tool and whether a provider runs it. */
function rowsOf(payloads: readonly Payload[]): unknown[] {
  const transcript = new Transcript();
  for (const [index, payload] of payloads.entries()) {
    transcript.add(create(RunResultSchema, { sequence: BigInt(index + 1), payload }));
  }
  return transcript.rows.flatMap(({ content }): unknown[] => {
    switch (content.kind) {
      case "message":
        return [content.text];
      case "sources":
        return [content.citations.map(({ url }) => url)];
      case "tool":
        return [[content.name, content.isOfProvider, content.result]];
      default:
        return [];
    }
  });
}

const tool = ["web_search", true, '{"content":[]}'];

test.each<[string, readonly Payload[], readonly unknown[]]>([
  ["between two texts", [delta("a "), ...search, delta("b"), message("a b")], ["a ", tool, "b"]],
  ["before the text", [...search, delta("b"), message("b")], [tool, "b"]],
  ["after the text", [delta("a"), ...search, message("a")], ["a", tool]],
  ["before a text without chunks", [...search, message("b")], [tool, "b"]],
  ["without the blanks of the chunks", [delta("a "), ...search, delta("b \n"), message("a b")], ["a ", tool, "b \n"]],
])("a search %s has a row of its own, and the text is shown once", (_, payloads, expected) => {
  expect(rowsOf(payloads)).toEqual(expected);
});

test("the sources of a message have a row behind its text", () => {
  const citations = [{ url: "https://bees.example/sleep" }, { url: "https://bees.example/rest" }];
  const content = { case: "text", value: "b" } as const;
  const cited: Payload = { case: "messageCompleted", value: { message: { role: "assistant", content, citations } } };
  expect(rowsOf([delta("b"), cited, delta("c")])).toEqual(["b", citations.map(({ url }) => url), "c"]);
});

test("a message that differs from its chunks is shown as it is", () => {
  expect(rowsOf([delta("Helo"), message("Hello"), delta("b"), message("b")])).toEqual(["Hello", "b"]);
});

test("a text of which the log sends the beginning is that of its chunks when they begin like it and are as long", () => {
  const transcript = new Transcript();
  const add = (sequence: number, payload: Payload, bytesLeftOut = 0): void =>
    transcript.add(create(RunResultSchema, { sequence: BigInt(sequence), payload, bytesLeftOut }));
  const texts = (): unknown[] => transcript.rows.map(({ content }) => content.kind === "message" && content.text);
  add(1, delta("The 🦊 "));
  add(2, delta("sleeps."));
  add(3, message("The 🦊"), 8);
  expect([texts(), [...transcript.cut.keys()]]).toEqual([["The 🦊 sleeps."], []]);
  // The chunks of this one are shorter, and the next one has no chunks.
  add(4, delta("The 🦊 wakes"));
  add(5, message("The 🦊"), 8);
  add(6, message("The b"), 10);
  expect([texts(), [...transcript.cut.keys()]]).toEqual([
    ["The 🦊 sleeps.", "The 🦊 wakes", "The b"],
    [5, 6],
  ]);
  const fill = (sequence: number, payload: Payload): void =>
    transcript.fill(create(RunResultSchema, { sequence: BigInt(sequence), payload }));
  const versions = transcript.rows.map(({ version }) => version);
  fill(5, message("The 🦊 wakes. "));
  fill(6, message("The bear sleeps."));
  expect(texts()).toEqual(["The 🦊 sleeps.", "The 🦊 wakes. ", "The bear sleeps."]);
  expect(transcript.rows.map(({ version }, index) => version > (versions[index] ?? 0))).toEqual([false, true, true]);
  expect(transcript.cut.size).toBe(0);
});

test("T5: a message that is being written keeps its end, and is whole when it is complete", () => {
  const transcript = new Transcript(100);
  const text = Array.from({ length: 50 }, (_, index) => `piece ${index + 10} `).join("");
  const add = (sequence: number, payload: Payload, bytesLeftOut = 0): void =>
    transcript.add(create(RunResultSchema, { sequence: BigInt(sequence), payload, bytesLeftOut }));
  for (let at = 0; at < text.length; at += 9) {
    add(1 + at / 9, delta(text.slice(at, at + 9)));
  }
  const content = transcript.rows[0]?.content;
  if (content?.kind !== "message") {
    throw new Error("the first row is no message");
  }
  expect(content.text.length).toBeLessThanOrEqual(100);
  expect(content.text.length).toBeGreaterThanOrEqual(80);
  expect(content.text).toBe(text.slice(content.charsDropped));
  add(51, message(text.slice(0, 10)), text.length - 10);
  expect([...transcript.cut.keys()]).toEqual([51]);
  transcript.fill(create(RunResultSchema, { sequence: 51n, payload: message(text) }));
  expect([content.text, content.charsDropped, transcript.rows.length]).toEqual([text, 0, 1]);
});

test("T5: another limit drops the start of a text that is not complete, and leaves complete ones", () => {
  const transcript = new Transcript();
  for (const [index, payload] of [message("complete"), delta("begun "), delta("and not ended")].entries()) {
    transcript.add(create(RunResultSchema, { sequence: BigInt(index + 1), payload }));
  }
  transcript.limitTexts(5);
  const texts = transcript.rows.map(({ content }) => (content.kind === "message" ? content.text : undefined));
  expect(texts).toEqual(["complete", "nded"]);
});

test("a text of 200,000 pieces takes about the memory of its characters", () => {
  const transcript = new Transcript();
  const pieces = 200_000;
  const before = heapUsed();
  for (let sequence = 1; sequence <= pieces; sequence += 1) {
    transcript.add(
      create(RunResultSchema, { sequence: BigInt(sequence), payload: delta(`word ${sequence} of many `) }),
    );
  }
  const grownBytes = heapUsed() - before;
  const { content } = transcript.rows[0] ?? {};
  const chars = content?.kind === "message" ? content.text.length : 0;
  expect(chars).toBeGreaterThan(pieces * 15);
  expect(grownBytes).toBeLessThan(chars * 2);
});

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  return process.memoryUsage().heapUsed;
}
