// Texts of the maximum size that are made to be slow to parse. Quadratic work would take minutes to hours. The parser takes
// some milliseconds for each, so the time limit below is generous even on a busy machine.

import { expect, test } from "vitest";
import { inboxBytesMax } from "../../../src/protocols/exchange/command.ts";
import { readHeader } from "../../../src/protocols/exchange/inbox/header.ts";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";

function fill(unit: string, before = "", after = ""): string {
  const count = Math.floor((inboxBytesMax - before.length - after.length) / unit.length);
  return before + unit.repeat(count) + after;
}

const timeLimitMs = 20_000;

const create = '[CREATE_FILE path="a"]\n';

test.each([
  ["blanks", fill(" ")],
  ["lines of blanks", fill("   \n")],
  ["brackets", fill("[")],
  ["lines of brackets", fill("[[\n")],
  ["near misses", fill("[done]\n")],
  ["lines that are nearly near misses", fill("[MY_name]\n")],
  ["quote marks", fill(">")],
  ["lines of quote marks", fill("> > > > [MY_name]\n")],
  ["list marks before quote marks", fill("- 1. - 1. - 1. - 1. - 1. - 1. - 1. - 1. - 1. x\n")],
  ["invisible characters", fill("\u200b")],
  ["lines with invisible characters", fill("\u200b[MY_name]\n")],
  ["escaped brackets", fill("&#91;")],
  ["one near tag with invisible characters", fill("\u200b", "[", "my_name]")],
  ["tags that are not closed", fill(create)],
  ["wrong tags that need no closing", fill("[READ_FILE]\n")],
  ["wrong blocks that are closed", fill("[CREATE_FILE]\n[/CREATE_FILE]\n")],
  ["closing tags with text behind them", fill("[/DONE] ", "[DONE]\n")],
  ["closing tags with blanks between them", fill("[/DONE]        ", "[DONE]\n")],
  ["closing tags behind text", fill("x[/DONE]\n", "[DONE]\n")],
  ["a closing tag as long as the text that is searched for it", half("a]")],
  ["CRs in a body", fill("\r", create, "x\n[/CREATE_FILE]")],
  ["CRs and LFs in a body", fill("\r\r\n", create, "x\n[/CREATE_FILE]")],
  ["equals signs", fill("=", "[READ_FILE ", "]")],
  ["equals signs with blanks", fill("=    ", "[READ_FILE ", "]")],
  ["equals signs with quotes", fill('="', "[READ_FILE ", "]")],
  ["names without values", fill("path= ", "[READ_FILE ", "]")],
  ["one long name", fill("a", "[READ_FILE ", '=""]')],
  ["digits", fill("0", '[EDIT_FILE path="a" start_line="', '" end_line="1"]\n[/EDIT_FILE]')],
  ["blanks for a number", fill(" ", '[EDIT_FILE path="a" start_line="', 'x" end_line="1"]\n[/EDIT_FILE]')],
  ["outboxes one behind the other", fill("=== PROTOCOL ===\n=== PROMPT ===\n")],
  ["outboxes with blocks that are not closed", fill("=== PROTOCOL ===\n[DONE]\n=== PROMPT ===\n")],
  ["nearly the line of an outbox", fill("=== PROTOCOL == ")],
  ["equals signs and nothing else", fill("=")],
  ["a header without an end", fill("Session: a1b2c3dx\n", "=== HEADER ===\n")],
])("%s", { timeout: timeLimitMs }, (_, text) => {
  expect(text.length).toBeGreaterThan(inboxBytesMax / 2);
  expect(parseInbox(text)).toBeInstanceOf(Array);
  expect(readHeader(text)).toEqual({});
});

/** The text after the block has all of the closing tag but its end, again and again. */
function half(unit: string): string {
  const token = unit.repeat(inboxBytesMax / 4 / unit.length);
  return `[CREATE_FILE path="a" end="${token}"]\n${fill("[/CREATE_FILE a]a\n").slice(0, token.length)}\n[/CREATE_FILE ${token}x`;
}
