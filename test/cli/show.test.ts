// How the command line prints the results of a run.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { type PlanEntry_Status, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { createResultView } from "../../src/cli/show.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

const chunk = (content: string, replacesText = false): Payload => ({
  case: "messageDelta",
  value: { chunk: { role: "assistant", content, replacesText } },
});
const said = (value: string) => ({ role: "assistant", content: { case: "text", value } }) as const;
const message = (text: string): Payload => ({ case: "messageCompleted", value: { message: said(text) } });
const completed = (text?: string): Payload => ({
  case: "runCompleted",
  value: { ...(text !== undefined && { message: said(text) }), turns: 1, durationMs: 2n },
});

const step = (text: string, status: PlanEntry_Status) => ({ text, status });

function show(payloads: readonly Payload[], isBegun = false): string {
  const view = createResultView({ isBegun });
  return payloads.map((payload) => view(create(RunResultSchema, { payload }))).join("");
}

const ofProvider = { toolCallId: "c1", toolName: "web_search", runByProvider: true };
const search: readonly Payload[] = [
  { case: "toolCallStarted", value: { ...ofProvider, parameters: '{"query":"Rome"}' } },
  { case: "toolCallCompleted", value: { ...ofProvider, result: '{"content":[]}' } },
];
const shownSearch = '\n→ web_search (run by the provider) {"query":"Rome"}\n← {"content":[]}\n';

const numbers = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
const changes = [
  { path: "a.txt", old_text: numbers.join("\n"), new_text: numbers.join("\n").replace("5", "five\nfive") },
  { path: "new.txt", new_text: "x\n" },
  { path: "same.txt", old_text: "x", new_text: "x" },
  { path: "long.txt", old_text: "", new_text: "x\n".repeat(100) },
];
const shownChanges = `← Edit two
  a.txt +2 -1
    2
    3
    4
  - 5
  + five
  + five
    6
    7
    8
  new.txt (new) +1 -0
  + x
  same.txt +0 -0
    x
  long.txt +100 -0
${"  + x\n".repeat(60)}  … 40 more lines
`;

const call = (toolCallId: string, path: string): Payload => ({
  case: "toolCallStarted",
  value: { toolCallId, toolName: "read_file", parameters: JSON.stringify({ path }) },
});
const result = (toolCallId: string, content: string): Payload => ({
  case: "toolCallCompleted",
  value: { toolCallId, toolName: "read_file", result: JSON.stringify({ content }) },
});
const reads = (path: string): string => `\n→ read_file {"path":"${path}"}\n`;

const end = "\n✓ completed in 1 turn, 2 ms\n";
const differs = "\n(the whole message differs from its chunks)\n";

describe("a result stands below its own call", () => {
  test.each<[string, readonly Payload[], string]>([
    ["a call alone", [call("1", "a"), result("1", "x\ny\n")], `${reads("a")}← x\n  y\n`],
    [
      "parallel calls that end in another order",
      [call("1", "a"), call("2", "b"), result("2", "of b"), result("1", "of a")],
      `${reads("a")}${reads("b")}← of b\n${reads("a")}← of a\n`,
    ],
    [
      "a text between a call and its result",
      [call("1", "a"), chunk("Wait."), result("1", "x")],
      `${reads("a")}Wait.${reads("a")}← x\n`,
    ],
    ["a call before the reader came", [result("1", "x")], "\n→ read_file\n← x\n"],
    [
      "a result of five lines",
      [call("1", "a"), result("1", "1\n2\n3\n4\n5")],
      `${reads("a")}← 1\n  2\n  3\n  4\n  5\n`,
    ],
    [
      "a longer result",
      [call("1", "a"), result("1", "1\n2\n3\n4\n5\n6")],
      `${reads("a")}← 1\n  2\n  3\n  4\n  … 2 more lines\n`,
    ],
  ])("%s", (_, payloads, expected) => {
    expect(show(payloads)).toBe(expected);
  });
});

describe("all text is shown exactly once", () => {
  test.each<[string, readonly Payload[], string]>([
    ["chunks and their message", [chunk("Hel"), chunk("lo"), message("Hello"), completed("Hello")], `Hello${end}`],
    ["chunks alone", [chunk("Hel"), chunk("lo"), completed()], `Hello${end}`],
    ["a message alone", [message("Hello"), completed("Hello")], `Hello\n${end}`],
    ["the message of the end alone", [completed("Hello")], `Hello${end}`],
    [
      "a message without the blanks of its chunks",
      [chunk("Hello \n"), message("Hello"), completed()],
      `Hello \n${end}`,
    ],
    ["a message that differs", [chunk("Helo"), message("Hello"), completed("Hello")], `Helo${differs}Hello\n${end}`],
    ["an end that differs", [chunk("Helo"), completed("Hello")], `Helo${differs}Hello${end}`],
    ["two messages", [message("a"), chunk("b"), message("b"), completed("b")], `a\nb${end}`],
    [
      "a message in whose middle the provider runs a tool",
      [chunk("a "), ...search, chunk("b"), message("a b"), completed("a b")],
      `a ${shownSearch}b${end}`,
    ],
    [
      "a message at whose end the provider runs a tool",
      [chunk("a"), ...search, message("a"), completed("a")],
      `a${shownSearch}${end}`,
    ],
    [
      "a plan",
      [{ case: "planUpdated", value: { entries: [step("Read", 3), step("Write\nit", 2), step("Test", 1)] } }],
      "\nplan: 1 of 3 done\n  ✓ Read\n  → Write it\n  · Test\n",
    ],
    [
      "the changes of a coding agent, as diffs",
      [
        {
          case: "toolCallCompleted",
          value: { ...ofProvider, result: JSON.stringify({ title: "Edit two", diffs: changes }) },
        },
      ],
      `\n→ web_search\n${shownChanges}`,
    ],
    [
      "diffs without texts",
      [{ case: "toolCallCompleted", value: { ...ofProvider, result: '{"diffs":[1,{"path":"a"}]}' } }],
      '\n→ web_search\n← {"diffs":[1,{"path":"a"}]}\n',
    ],
    [
      "a text that starts over",
      [chunk("[1]"), chunk("(a)", true), completed()],
      `[1]\n(the text starts over)\n(a)${end}`,
    ],
  ])("%s", (_, payloads, expected) => {
    expect(show(payloads)).toBe(expected);
  });

  test("of a run whose beginning was shown before", () => {
    expect(show([chunk("lo"), message("Hello"), completed("Hello")], true)).toBe(`lo${end}`);
    expect(show([message("Hello"), completed("Hello")], true)).toBe(end);
  });
});
