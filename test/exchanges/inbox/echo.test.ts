// Instructions that come back in an inbox execute nothing (D4).

import { describe, expect, test } from "vitest";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";

const message = "inbox repeats the protocol instructions; nothing was executed";
const echo = [{ type: "PARSE_ERROR", message }];
const done = ["[DONE]", "x", "[/DONE]"];

const instructions = [
  ...['[CREATE_FILE path="relative/path"]', "contents", "[/CREATE_FILE]"],
  ...['[EDIT_FILE path="relative/path" start_line="N" end_line="M"]', "contents", "[/EDIT_FILE]"],
  ...['[DELETE_FILE path="relative/path"]', '[READ_FILE path="relative/path"]'],
  ...["[RUN_COMMAND]", "command", "[/RUN_COMMAND]", "[MESSAGE]", "text", "[/MESSAGE]", "[DONE]", "text", "[/DONE]"],
];

function parse(...lines: readonly string[]): ReturnType<typeof parseInbox> {
  return parseInbox(lines.join("\n"));
}

describe("an outbox", () => {
  test("is recognised by its instructions section", () => {
    expect(parse(...done, "\u00a0=== PROTOCOL ===\r", ...done)).toEqual(echo);
  });

  test.each(["=== PROTOCOL", "== PROTOCOL ===", "=== Protocol ===", "x === PROTOCOL ===", "=== PROTOCOL === x"])(
    "is not recognised by %j",
    (line) => {
      expect(parse(line, ...done)).toEqual([{ type: "DONE", message: "x" }]);
    },
  );

  test("with an answer after its prompt counts as that answer", () => {
    const outbox = ["=== HEADER ===", "", "=== PROTOCOL ===", ...instructions, "=== CONTEXT ===", "=== PROMPT ==="];
    expect(parse(...outbox, "Write a file.", "", ...done)).toEqual([{ type: "DONE", message: "x" }]);
    expect(parse(...outbox, "[DELETE_FILE]", ...done, "[DONE] x")).toEqual([
      { type: "PARSE_ERROR", message: "DELETE_FILE missing path attribute" },
      { type: "DONE", message: "x" },
      {
        type: "PARSE_ERROR",
        message: expect.stringContaining(`unrecognised: line ${outbox.length + 5} looks like DONE`),
      },
    ]);
  });

  test.each([[[]], [["Write a file."]], [["[done]"]]])("with %j after its prompt has no answer", (rest) => {
    expect(parse("=== PROTOCOL ===", "=== PROMPT ===", ...rest)).toEqual(echo);
  });

  test("with errors and no command in its answer shows the first error as detail", () => {
    expect(parse("=== PROTOCOL ===", "=== PROMPT ===", "[READ_FILE]", "[DONE]")).toEqual([
      { type: "PARSE_ERROR", message, detail: "READ_FILE missing path attribute" },
    ]);
  });

  test("may occur twice in a text, but not again in its answer", () => {
    const outbox = ["=== PROTOCOL ===", ...instructions, "=== PROMPT ===", "Write a file."];
    expect(parse(...outbox, ...outbox, ...done)).toEqual([{ type: "DONE", message: "x" }]);
    expect(parse(...outbox, ...done, "=== PROTOCOL ===")).toEqual(echo);
  });

  test("begins at its instructions section: an earlier prompt does not count", () => {
    expect(parse("=== PROMPT ===", "=== PROTOCOL ===", ...done)).toEqual(echo);
  });

  test("executes nothing from a file that it shows, even if the file has a prompt line", () => {
    const file = ["--- a.txt ---", "=== PROMPT ===", "[RUN_COMMAND]", "rm x", "[/RUN_COMMAND]", "--- end a.txt ---"];
    expect(parse("=== PROTOCOL ===", "=== CONTEXT ===", ...file, "=== PROMPT ===", "Go on.", ...done)).toEqual(echo);
  });

  test("within the contents of a file executes nothing from these contents", () => {
    const contents = ["=== PROTOCOL ===", "=== PROMPT ===", "[RUN_COMMAND]", "rm x", "[/RUN_COMMAND]"];
    expect(parse('[CREATE_FILE path="a"]', ...contents, "[/CREATE_FILE]", ...done)).toEqual(echo);
  });
});

describe("instructions without an outbox", () => {
  test("are recognised by all commands in the documented order with the letters N and M", () => {
    expect(parse(...instructions)).toEqual(echo);
    expect(parse("Here is what I know:", ...instructions.flatMap((line) => [line, ""]), ...done)).toEqual(echo);
    expect(parse(...done, ...instructions, "[done]")).toEqual(echo);
  });

  test("are recognised with blocks between them, and with the last one cut off", () => {
    expect(parse(...instructions.toSpliced(3, 0, '[READ_FILE path="b"]'))).toEqual(echo);
    expect(parse(...instructions.slice(0, -1))).toEqual(echo);
  });

  test.each([
    ["numbers instead of letters", instructions.map((line) => line.replace('"N"', '"1"').replace('"M"', '"2"'))],
    ["one letter alone", instructions.map((line) => line.replace('"M"', '"2"'))],
    ["other letters", instructions.map((line) => line.replace('"N"', '"n"'))],
    ["another order", [...instructions.slice(6, 7), ...instructions.slice(0, 6), ...instructions.slice(7)]],
    ["one missing", instructions.toSpliced(6, 1)],
  ])("are not recognised with %s", (_, lines) => {
    expect(parse(...lines).filter(({ type }) => type === "DONE")).toHaveLength(1);
  });

  test("within the contents of a file are contents", () => {
    const contents = instructions.map((line) => line.replace("CREATE", "MAKE"));
    expect(parse('[CREATE_FILE path="a"]', ...contents, "[/CREATE_FILE]")).toEqual([
      { type: "CREATE_FILE", path: "a", content: contents.join("\n") },
    ]);
  });

  test("after the prompt of an outbox are not an answer", () => {
    expect(parse("=== PROTOCOL ===", "=== PROMPT ===", ...instructions)).toEqual(echo);
  });
});
