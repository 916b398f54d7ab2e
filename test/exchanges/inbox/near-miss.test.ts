// Lines that were meant as commands but are not valid are reported, and no other lines are (D5).

import { expect, test } from "vitest";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";
import { instructions } from "../../../src/protocols/exchange/outbox/instructions.ts";

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

test.each([
  ["> [DONE]", "DONE", 'behind the quote mark ">"'],
  [">[DONE]", "DONE", 'behind the quote mark ">"'],
  ["> > >> [DONE]", "DONE", 'behind the quote mark ">"'],
  ['> [CREATE_FILE path="a"]', "CREATE_FILE", 'behind the quote mark ">"'],
  ["> **[done]**", "DONE", 'behind the quote mark ">"'],
  ["> [DONE] all good", "DONE", 'behind the quote mark ">"'],
  ["- > [DONE]", "DONE", 'behind the quote mark ">"'],
  ["2. > 1) > [DONE]", "DONE", 'behind the quote mark ">"'],
  ["&gt; [DONE]", "DONE", 'behind the quote mark ">"'],
  ["＞ [DONE]", "DONE", 'behind the quote mark ">"'],
  ["> \u200b[DONE]", "DONE", 'behind the quote mark ">" with the invisible character U+200B'],
  ["\u200b[DONE]", "DONE", "with the invisible character U+200B"],
  ["\ufeff[DONE]", "DONE", "with the invisible character U+FEFF"],
  ["\u00a0\u2060 [DONE]", "DONE", "with the invisible character U+2060"],
  ["\u3164[DONE]", "DONE", "with the invisible character U+3164"],
  ["\u2800[DONE]", "DONE", "with the invisible character U+2800"],
  ["\0[DONE]", "DONE", "with the invisible character U+0000"],
  ["\u202a[DONE]\u202c", "DONE", "with the invisible character U+202A"],
  ["[\u200bDONE]", "DONE", "with the invisible character U+200B"],
  ["[DO\u00adNE]", "DONE", "with the invisible character U+00AD"],
  ["[DONE]\u200d", "DONE", "with the invisible character U+200D"],
  ['[READ_FILE path="a"]\u200b', "READ_FILE", "with the invisible character U+200B"],
  ["[DONE\u{e0020}]", "DONE", "with the invisible character U+E0020"],
  ["［DONE］", "DONE", 'with "［"'],
  ["【DONE】", "DONE", 'with "【"'],
  ["[ＤＯＮＥ]", "DONE", 'with "Ｄ"'],
  ["&#91;DONE&#93;", "DONE", 'with "&#91;"'],
  ["&#x5b;DONE]", "DONE", 'with "&#x5b;"'],
  ["&#091;DONE&#0093;", "DONE", 'with "&#091;"'],
  ["&#x005B;DONE]", "DONE", 'with "&#x005B;"'],
  ["&lbrack;DONE&rbrack;", "DONE", 'with "&lbrack;"'],
  ["&nbsp;[DONE]", "DONE", 'with "&nbsp;"'],
])("%j looks like %s %s", (line, name, found) => {
  const [only, ...others] = parseInbox(`Well.\n\n${line}\nx`);
  expect(others).toEqual([]);
  expect(only).toMatchObject({ type: "PARSE_ERROR" });
  const message = only?.type === "PARSE_ERROR" ? only.message : "";
  expect(message).toContain(`unrecognised: line 3 looks like ${name} ${found} and was not executed: `);
  expect(message).toContain(`write [${name}`);
});

test("a quoted answer gives one error, which says how to send it", () => {
  const answer = ['[CREATE_FILE path="a"]', "x", "[/CREATE_FILE]", "", "[DONE]", "all", "[/DONE]"];
  expect(parseInbox(answer.map((line) => `> ${line}`).join("\n"))).toEqual([
    {
      type: "PARSE_ERROR",
      message:
        'unrecognised: line 1 looks like CREATE_FILE behind the quote mark ">" and was not executed: remove the quote marks from all lines, and write [CREATE_FILE path="…"] alone on one line, and [/CREATE_FILE] alone on a later one',
    },
  ]);
});

test("a quoted outbox before or after the answer is no near miss, and the answer in its quote is one", () => {
  const quote = (lines: readonly string[]) => lines.map((line) => `> ${line}`).join("\n");
  const outbox = [
    "=== HEADER ===",
    "=== PROTOCOL ===",
    instructions,
    "=== CONTEXT ===",
    "[DONE]",
    "=== PROMPT ===",
    "go on",
  ];
  const quoted = quote(outbox.join("\n").split("\n"));
  const answer = '[READ_FILE path="a"]\n';
  const read = { type: "READ_FILE", path: "a" };
  expect(parseInbox(`${answer}On Monday you wrote:\n${quoted}`)).toEqual([read]);
  expect(parseInbox(`${quoted}\n\n${answer}`)).toEqual([read]);
  expect(parseInbox(`${quoted}\n${answer}[done]`)).toMatchObject([read, { type: "PARSE_ERROR" }]);
  expect(parseInbox(`${quoted}\n> [DONE]\n${answer}`)).toMatchObject([read, { type: "PARSE_ERROR" }]);
  const cut = quoted.slice(0, quoted.indexOf("> === PROMPT"));
  expect(parseInbox(`${cut}${answer}[done]`)).toMatchObject([read, { type: "PARSE_ERROR" }]);
});

test.each([
  '[RENAME_FILE from="a" to="b"]',
  "[LIST_FILES]",
  "**[LIST_FILES]**",
  "\\[LIST\\_FILES\\]",
  "> [LIST_FILES]",
  "\ufeff[LIST_FILES]",
])("%j asks for an unknown command", (line) => {
  expect(parseInbox(line)).toEqual([
    {
      type: "PARSE_ERROR",
      message: expect.stringMatching(
        /^unrecognised: line 1 asks for (?:RENAME_FILE|LIST_FILES), an unknown command: use CREATE_FILE, /,
      ),
    },
  ]);
});

test.each([
  ...["[TODO]", "[x] done", "[ ] DONE", "[]", "[", "[[DONE]]", "[NOTE] x", "[1] a footnote", "[INFO]", "[Messages]"],
  ...["- [DONE]", "* [DONE]", "1. [DONE]", "`[DONE]`", "```", '"[DONE]"', "*[DONE]*", "-> [DONE]", "=> [DONE]"],
  ...["[/DONE]", "[/CREATE_FILE]", "[/DONE ]", "**[/DONE]**", "[/done]", "DONE", "<DONE>", "(DONE)"],
  ...[
    "[done](https://example.com)",
    "[DONE](https://example.com)",
    "[read_file]: https://example.com",
    "[message] from the build: ok",
    "[done] see [1]",
  ],
  ...["[MY_NAME] is set", "[MY_NAME](x)", "[my_name]", "[A_]", "[MY_NAME=1]", `[${"A_".repeat(40)}B]`],
  ...["\\", "**", "\\[", "**[", "**\\", "***[DONE]***", "**bold** [DONE]"],
  ...["> said [DONE]", "> [x] done", "> > [1] a note", "> - [DONE]", "> [message] from me", "> [/DONE]", ">", "> ["],
  ...["\u200b", "\ufeffDONE", "\u200b[x] done", "\u200b- [DONE]", "&#91;x&#93;", "&gt; yes", "【注意】", "［x］ done"],
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
