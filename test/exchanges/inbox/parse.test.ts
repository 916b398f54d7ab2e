// What the naive parser and the shared cases do not show: odd white space and attributes, and the details of errors.

import { describe, expect, test } from "vitest";
import type { Command } from "../../../src/protocols/exchange/command.ts";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";

const badlyQuoted = 'a value stands between straight double quotes, such as path="…"';
const unclosed = "nothing after this block was executed";

function error(message: string, detail?: string): Command {
  return detail === undefined ? { type: "PARSE_ERROR", message } : { type: "PARSE_ERROR", message, detail };
}

function done(message: string): Command {
  return { type: "DONE", message };
}

function read(path: string): Command {
  return { type: "READ_FILE", path };
}

function linesOf(...lines: readonly string[]): string {
  return lines.join("\n");
}

describe("lines", () => {
  test.each([
    "\t",
    "\v",
    "\f",
    "\r",
    " ",
    "\u0085",
    "\u00a0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u202f",
    "\u205f",
    "\u3000",
  ])("white space %j around a tag is ignored", (blank) => {
    expect(parseInbox(`${blank}[DONE]${blank}\nx\n${blank}[/DONE]${blank}`)).toEqual([done("x")]);
  });

  test.each(["\ufeff", "\u200b", "\u180e", "\0"])("%j is not white space", (other) => {
    expect(parseInbox(`${other}[DONE]\nx\n[/DONE]`)).toMatchObject([{ type: "PARSE_ERROR" }]);
    expect(parseInbox(`[DONE]\n${other}x\n[/DONE]`)).toEqual([done(`${other}x`)]);
  });
});

describe("attributes", () => {
  test.each([
    ['data-path="a"', "a"],
    ['PATH="a"', "a"],
    ['path\u00a0=\u3000"a"', "a"],
    ['x="path="a" path="b"', "b"],
    ['="x" path="a"', "a"],
    ['"path="a""', "a"],
    ['path="a b\tc"', "a b\tc"],
    ['path="a&quot;\\"', "a&quot;\\"],
    ['path=" a "', " a "],
    ['path="a" path=""', ""],
    ["path=\"a\" path='b'", "a"],
    ['path="a" /', "a"],
    ['path="a"\r', "a"],
    ['path="a=b"', "a=b"],
    ['path="a" unknown="[/READ_FILE]"', "a"],
    ['💾path="a"', "a"],
  ])("%j names %j", (attributes, path) => {
    expect(parseInbox(`[READ_FILE ${attributes}]`)).toEqual([read(path)]);
  });

  test.each([
    "path",
    'filepath="a"',
    'épath="a"',
    'path2="a"',
    '_path="a"',
    'path-="a"',
    '="a"',
    'x="path="',
    'path"="a"',
  ])("%j names no path", (attributes) => {
    expect(parseInbox(`[READ_FILE ${attributes}]`)).toEqual([error("READ_FILE missing path attribute")]);
  });

  test.each(["path=", 'path="a', "path=a", 'path=x"a"', "path='a'", "path=“a”", "path=&quot;a&quot;"])(
    "%j names no path, and the error says how to quote it",
    (attributes) => {
      expect(parseInbox(`[READ_FILE ${attributes}]`)).toEqual([error("READ_FILE missing path attribute", badlyQuoted)]);
    },
  );

  test("the error of an EDIT_FILE says how to quote its attributes", () => {
    expect(parseInbox("[EDIT_FILE path=\"a\" start_line='1' end_line='2']\nx\n[/EDIT_FILE]")).toEqual([
      error("EDIT_FILE missing required attributes (path, start_line, end_line)", badlyQuoted),
    ]);
  });
});

describe("malformed blocks never execute (D1)", () => {
  test.each([
    ['[CREATE_FILE path="a"]', "CREATE_FILE for 'a' missing closing tag"],
    ["[CREATE_FILE]", "CREATE_FILE missing path attribute"],
    ['[EDIT_FILE path="a" start_line="1" end_line="1"]', "EDIT_FILE for 'a' missing closing tag"],
    ['[EDIT_FILE path="a" start_line="x" end_line="1"]', "EDIT_FILE start_line/end_line must be integers"],
    ["[EDIT_FILE]", "EDIT_FILE missing required attributes (path, start_line, end_line)"],
    ["[RUN_COMMAND]", "RUN_COMMAND missing closing tag"],
    ["[MESSAGE]", "MESSAGE missing closing tag"],
    ["[DONE]", "DONE missing closing tag"],
  ])("nothing after an unclosed %s executes", (tag, message) => {
    const after = ['[READ_FILE path="b"]', "[done]", "[WRONG_NAME]"];
    expect(parseInbox(linesOf('[READ_FILE path="a"]', tag, ...after))).toEqual([read("a"), error(message, unclosed)]);
    expect(parseInbox(tag)).toEqual([error(message, unclosed)]);
  });

  test("an unclosed block names the line that was probably meant as its closing tag", () => {
    expect(parseInbox(linesOf("[DONE]", "x", "[/DONE ]", '[READ_FILE path="b"]'))).toEqual([
      error(
        "DONE missing closing tag",
        `${unclosed}; line 3 does not end it: its closing tag is [/DONE], alone on a line`,
      ),
    ]);
  });
});

describe("a custom closing tag (D7)", () => {
  test("is the standard one when the attribute is empty", () => {
    expect(parseInbox(linesOf('[CREATE_FILE path="a" end=""]', "x", "[/CREATE_FILE]"))).toEqual([
      { type: "CREATE_FILE", path: "a", content: "x" },
    ]);
  });

  test("is required, even for an invalid block", () => {
    expect(parseInbox(linesOf('[CREATE_FILE end="X"]', "[/CREATE_FILE]", '[READ_FILE path="a"]'))).toEqual([
      error(
        "CREATE_FILE missing path attribute",
        `${unclosed}; line 2 does not end it: its closing tag is [/CREATE_FILE X], alone on a line`,
      ),
    ]);
  });
});
