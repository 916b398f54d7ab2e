// The rows that the console makes of a log in which a provider runs a tool in the middle of an answer.

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
