// Lines that were meant as commands but are not valid are reported, and no other lines are (D5).

import { expect, test } from "vitest";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";

test.each([
  ["[done]", "DONE"],
  ["[Done]", "DONE"],
  ["[done] all good [/done]", "DONE"],
  ['[read_file path="a"]', "READ_FILE"],
  ["[DONE] all good [/DONE]", "DONE"],
  ["[DONE] all good", "DONE"],
  ["[DONE", "DONE"],
  ["[DONE/]", "DONE"],
  ['[RUN_COMMAND timeout="5"]', "RUN_COMMAND"],
  ["[RUN_COMMAND ]", "RUN_COMMAND"],
  ["[ DONE ]", "DONE"],
  ['[ READ_FILE path="a"]', "READ_FILE"],
  ['[READ_FILE path="a"] please', "READ_FILE"],
  ["[READ_FILE", "READ_FILE"],
  ['[READ_FILE:path="a"]', "READ_FILE"],
  ["**[DONE]**", "DONE"],
  ["**[done]**", "DONE"],
  ["\\[DONE\\]", "DONE"],
  ["\\[done\\]", "DONE"],
  ['\\[CREATE\\_FILE path="a"\\]', "CREATE_FILE"],
  ['**[READ_FILE path="a"]**', "READ_FILE"],
  ['**\\[READ\\_FILE path="a"\\]**', "READ_FILE"],
  ["\u00a0[DONE].", "DONE"],
])("%j is reported as a near miss of %s", (line, name) => {
  const [only, ...others] = parseInbox(`Well.\n\n${line}\nx`);
  expect(others).toEqual([]);
  expect(only).toMatchObject({
    type: "PARSE_ERROR",
    message: expect.stringMatching(
      new RegExp(`^unrecognised: line 3 looks like ${name} and was not executed: write \\[${name}`),
    ),
  });
});

test.each(['[RENAME_FILE from="a" to="b"]', "[LIST_FILES]", "**[LIST_FILES]**", "\\[LIST\\_FILES\\]"])(
  "%j asks for an unknown command",
  (line) => {
    expect(parseInbox(line)).toEqual([
      {
        type: "PARSE_ERROR",
        message: expect.stringMatching(
          /^unrecognised: line 1 asks for (?:RENAME_FILE|LIST_FILES), an unknown command: use CREATE_FILE, /,
        ),
      },
    ]);
  },
);

test.each([
  ...["[TODO]", "[x] done", "[ ] DONE", "[]", "[", "[[DONE]]", "[NOTE] x", "[1] a footnote", "[INFO]", "[Messages]"],
  ...["- [DONE]", "* [DONE]", "1. [DONE]", "> [DONE]", "`[DONE]`", "```", '"[DONE]"', "*[DONE]*", "\ufeff[DONE]"],
  ...["[/DONE]", "[/CREATE_FILE]", "[/DONE ]", "**[/DONE]**", "[/done]", "DONE", "<DONE>", "(DONE)"],
  ...[
    "[done](https://example.com)",
    "[read_file]: https://example.com",
    "[message] from the build: ok",
    "[done] see [1]",
  ],
  ...["[MY_NAME] is set", "[MY_NAME](x)", "[my_name]", "[A_]", "[MY_NAME=1]", `[${"A_".repeat(40)}B]`],
  ...["\\", "**", "\\[", "**[", "**\\", "***[DONE]***", "**bold** [DONE]"],
])("%j is prose", (line) => {
  expect(parseInbox(line)).toEqual([]);
});

test("lines within bodies are not reported, even in invalid blocks", () => {
  expect(parseInbox("[CREATE_FILE]\n[done]\n[/CREATE_FILE]\n[DONE]\n[DONE] x\n[/DONE]")).toEqual([
    { type: "PARSE_ERROR", message: "CREATE_FILE missing path attribute" },
    { type: "DONE", message: "[DONE] x" },
  ]);
});

test("only the first near miss is reported, after all other results, and the commands stay the same", () => {
  expect(parseInbox('[DONE] x\n[READ_FILE path="a"]\n[MOVE_FILE path="a"]\n[MESSAGE]\nm')).toEqual([
    { type: "READ_FILE", path: "a" },
    {
      type: "PARSE_ERROR",
      message: "MESSAGE missing closing tag",
      detail: "nothing after this block was executed",
    },
    {
      type: "PARSE_ERROR",
      message:
        "unrecognised: line 1 looks like DONE and was not executed: write [DONE] alone on one line, and [/DONE] alone on a later one",
    },
  ]);
});

test("the hint shows the command as it must be written", () => {
  const [told] = parseInbox("[edit_file]");
  expect(told).toMatchObject({
    message: expect.stringContaining(
      'write [EDIT_FILE path="…" start_line="…" end_line="…"] alone on one line, and [/EDIT_FILE] alone on a later one',
    ),
  });
  expect(parseInbox("[ READ_FILE ]")).toMatchObject([
    { message: expect.stringMatching(/write \[READ_FILE path="…"\] alone on one line$/) },
  ]);
});
