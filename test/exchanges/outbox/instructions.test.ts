// The instructions hold the text by which echoes are recognised, and every rule of the protocol.

import { expect, test } from "vitest";
import { instructions } from "../../../src/protocols/exchange/outbox/instructions.ts";

const lines = instructions.split("\n");
const tagLines = lines.filter((line) => /\[\/?[A-Z_]+/.test(line));

test("all seven commands have one example, in the documented order, with every tag alone on its line", () => {
  expect(tagLines).toEqual([
    '[CREATE_FILE path="relative/path"]',
    "[/CREATE_FILE]",
    '[EDIT_FILE path="relative/path" start_line="N" end_line="M"]',
    "[/EDIT_FILE]",
    '[DELETE_FILE path="relative/path"]',
    '[READ_FILE path="relative/path"]',
    "[RUN_COMMAND]",
    "[/RUN_COMMAND]",
    "[MESSAGE]",
    "[/MESSAGE]",
    "[DONE]",
    "[/DONE]",
  ]);
});

test("the bodies of the examples are those of the document", () => {
  const bodies = [...instructions.matchAll(/^\[([A-Z_]+).*\]\n(.*)\n\[\/\1\]$/gm)].map(([, name, body]) => [
    name,
    body,
  ]);
  expect(bodies).toEqual([
    ["CREATE_FILE", "file contents"],
    ["EDIT_FILE", "replacement content"],
    ["RUN_COMMAND", "command text"],
    ["MESSAGE", "message text"],
    ["DONE", "summary text"],
  ]);
});

test("no other line begins with a bracket or a marker, and no line ends with white space", () => {
  expect(lines.filter((line) => /^\s*(\[|===|##|---)/.test(line) && !tagLines.includes(line))).toEqual([]);
  expect(lines.filter((line) => line !== line.trimEnd())).toEqual([]);
  expect(instructions).toBe(instructions.trim());
});

test.each([
  /paths are relative to the workspace/i,
  /line numbers start at 1\b.*\binclusive/i,
  /tag alone on its line/i,
  /as many commands as you like\. They run in order/i,
  /read a file before you edit it/i,
  /finished.*send DONE/i,
  /text outside of blocks is ignored/i,
  /results in the next message/i,
  /verbatim/i,
  /30 seconds/,
  /4000 characters/,
])("the instructions say %s", (rule) => {
  expect(instructions.replaceAll("\n", " ")).toMatch(rule);
});

test("the instructions are short: less than 4 KiB of every outbox", () => {
  expect(Buffer.byteLength(instructions)).toBeLessThan(4_096);
});
