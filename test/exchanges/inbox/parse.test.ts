// Each parsing rule and each decision about it, tested separately.

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
  test("only LF ends a line: CR, U+0085, U+2028 and form feed do not", () => {
    for (const other of ["\r", "\u0085", "\u2028", "\f"]) {
      expect(parseInbox(`[DONE]${other}x${other}[/DONE]`)[0]?.type).toBe("PARSE_ERROR");
    }
  });

  test("a text with CR only is one line, so its tag has no closing tag", () => {
    expect(parseInbox('[CREATE_FILE path="a"]\rx\r[/CREATE_FILE]')).toEqual([
      error(
        "CREATE_FILE for 'a' missing closing tag",
        // The closing tag is on the line of the opening tag, where the parser does not look for it.
        unclosed,
      ),
    ]);
  });

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

  test("a tag must be alone on its line", () => {
    expect(parseInbox('say [READ_FILE path="a"]')).toEqual([]);
    expect(parseInbox('- [READ_FILE path="a"]\n`[READ_FILE path="a"]`')).toEqual([]);
  });

  test("two tags on one line are one tag, and the last path wins", () => {
    expect(parseInbox('[READ_FILE path="a"] [READ_FILE path="b"]')).toEqual([read("b")]);
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

  test.each([
    ["1", 1],
    ["0", 0],
    ["-0", 0],
    ["-7", -7],
    ["+7", 7],
    ["007", 7],
    [" \t7 ", 7],
    ["2147483647", 2_147_483_647],
    ["-2147483648", -2_147_483_648],
  ])("%j is the number %j", (value, number) => {
    expect(parseInbox(linesOf(`[EDIT_FILE path="a" start_line="${value}" end_line="1"]`, "[/EDIT_FILE]"))).toEqual([
      { type: "EDIT_FILE", path: "a", startLine: number, endLine: 1, content: "" },
    ]);
  });

  test.each([
    "",
    " ",
    "+",
    "1.0",
    "1,000",
    "0x1",
    "1e3",
    "- 1",
    "1 2",
    "١",
    "2147483648",
    "-2147483649",
    "\u00a01",
    "N",
  ])("%j is not a number", (value) => {
    for (const attributes of [`start_line="${value}" end_line="1"`, `start_line="1" end_line="${value}"`]) {
      expect(parseInbox(linesOf(`[EDIT_FILE path="a" ${attributes}]`, "[/EDIT_FILE]"))).toEqual([
        error("EDIT_FILE start_line/end_line must be integers"),
      ]);
    }
  });

  test.each(['path="a" start_line="1"', 'path="a" end_line="1"', 'start_line="x" end_line="x"'])(
    "an edit needs all three attributes: %j is incomplete",
    (attributes) => {
      expect(parseInbox(linesOf(`[EDIT_FILE ${attributes}]`, "[/EDIT_FILE]"))).toEqual([
        error("EDIT_FILE missing required attributes (path, start_line, end_line)"),
      ]);
    },
  );
});

describe("bodies", () => {
  test.each([
    [[], ""],
    [[""], ""],
    [["", ""], "\n"],
    [["x", ""], "x\n"],
    [["", "x"], "\nx"],
    [["  x\t"], "  x\t"],
    [["a\r", "b\r\r", "c\rd", "\r"], "a\nb\nc\rd\n"],
    [["\r\rx"], "\r\rx"],
    [["x\0\u2028\ud800"], "x\0\u2028\ud800"],
    [["[RUN_COMMAND]", "ls", "[/RUN_COMMAND]"], "[RUN_COMMAND]\nls\n[/RUN_COMMAND]"],
    [["[/CREATE_FILE ]", "[/create_file]", "x [/CREATE_FILE]"], "[/CREATE_FILE ]\n[/create_file]\nx [/CREATE_FILE]"],
  ])("the lines %j are the contents %j", (lines, content) => {
    expect(parseInbox(linesOf('[CREATE_FILE path="a"]', ...lines, "[/CREATE_FILE]"))).toEqual([
      { type: "CREATE_FILE", path: "a", content },
    ]);
  });

  test("the bodies of RUN_COMMAND, MESSAGE and DONE are trimmed, and may be empty", () => {
    const bodies = ["\u0085\u3000 ls\r\n -l \r\n\r\n", "\ufeffx", " \u00a0 "];
    for (const [body, expected] of [
      [bodies[0], "ls\n -l"],
      [bodies[1], "\ufeffx"],
      [bodies[2], ""],
    ] as const) {
      expect(
        parseInbox(
          linesOf(
            ...["[RUN_COMMAND]", `${body}`, "[/RUN_COMMAND]"],
            ...["[MESSAGE]", `${body}`, "[/MESSAGE]"],
            ...["[DONE]", `${body}`, "[/DONE]"],
          ),
        ),
      ).toEqual([{ type: "RUN_COMMAND", command: expected }, { type: "MESSAGE", text: expected }, done(expected)]);
    }
  });

  test("commands after DONE stay in order (D6)", () => {
    expect(parseInbox(linesOf("[DONE]", "1", "[/DONE]", '[READ_FILE path="a"]', "[DONE]", "2", "[/DONE]"))).toEqual([
      done("1"),
      read("a"),
      done("2"),
    ]);
  });
});

describe("malformed blocks never execute (D1)", () => {
  test("after an error parsing continues after the closing tag", () => {
    expect(
      parseInbox(
        linesOf(
          ...['[CREATE_FILE file="a"]', "[RUN_COMMAND]", "rm x", "[/RUN_COMMAND]", "[/CREATE_FILE]"],
          ...['[EDIT_FILE path="a"]', '[DELETE_FILE path="a"]', "[/EDIT_FILE]"],
          ...["[DONE]", "x", "[/DONE]"],
        ),
      ),
    ).toEqual([
      error("CREATE_FILE missing path attribute"),
      error("EDIT_FILE missing required attributes (path, start_line, end_line)"),
      done("x"),
    ]);
  });

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

  test("the first closing tag ends a block, even if it was meant for another one", () => {
    const twice = linesOf("[CREATE_FILE]", '[CREATE_FILE path="b"]', "x", "[/CREATE_FILE]", "[/CREATE_FILE]");
    expect(parseInbox(twice)).toEqual([error("CREATE_FILE missing path attribute")]);
  });

  test("after an invalid READ_FILE or DELETE_FILE, which have no body, the next line counts", () => {
    expect(parseInbox(linesOf("[READ_FILE]", "[DELETE_FILE file='a']", '[READ_FILE path="b"]'))).toEqual([
      error("READ_FILE missing path attribute"),
      error("DELETE_FILE missing path attribute", badlyQuoted),
      read("b"),
    ]);
  });
});

test("a tag without any attribute is an error, not prose (D2)", () => {
  expect(parseInbox("[READ_FILE]\n[DELETE_FILE]\n[CREATE_FILE]\n[/CREATE_FILE]\n[EDIT_FILE]\n[/EDIT_FILE]")).toEqual([
    error("READ_FILE missing path attribute"),
    error("DELETE_FILE missing path attribute"),
    error("CREATE_FILE missing path attribute"),
    error("EDIT_FILE missing required attributes (path, start_line, end_line)"),
  ]);
});

test.each(["\t", " ", "\u00a0", "\f"])("the blank %j may follow the name (D3)", (blank) => {
  expect(parseInbox(`[READ_FILE${blank}path="a"]`)).toEqual([read("a")]);
});

describe("a custom closing tag (D7)", () => {
  test("makes the standard closing tag a line of the body", () => {
    expect(
      parseInbox(
        linesOf(
          ...['[CREATE_FILE path="a" end="X1"]', "[/CREATE_FILE]", "[/CREATE_FILE X2]", "[/CREATE_FILE X1]"],
          ...['[EDIT_FILE END="]" path="a" start_line="1" end_line="2"]', "[/EDIT_FILE]", " [/EDIT_FILE ]]\r"],
        ),
      ),
    ).toEqual([
      { type: "CREATE_FILE", path: "a", content: "[/CREATE_FILE]\n[/CREATE_FILE X2]" },
      { type: "EDIT_FILE", path: "a", startLine: 1, endLine: 2, content: "[/EDIT_FILE]" },
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

  test("is the standard one when the attribute is empty", () => {
    expect(parseInbox(linesOf('[CREATE_FILE path="a" end=""]', "x", "[/CREATE_FILE]"))).toEqual([
      { type: "CREATE_FILE", path: "a", content: "x" },
    ]);
  });

  test("exists for CREATE_FILE and EDIT_FILE only", () => {
    expect(parseInbox(linesOf('[READ_FILE path="a" end="X"]', '[READ_FILE path="b"]'))).toEqual([read("a"), read("b")]);
  });
});
