// Properties that hold for every text.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Command } from "../../../src/protocols/exchange/command.ts";
import { readHeader } from "../../../src/protocols/exchange/inbox/header.ts";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";
import { parseNaively, trim } from "./naive-parser.ts";
import { nearInbox } from "./near-grammar.ts";

const anyText = fc.oneof(
  nearInbox,
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
);

function isNearMiss(command: Command | undefined): boolean {
  return command?.type === "PARSE_ERROR" && command.message.startsWith("unrecognised");
}

/** Removes near misses and the details of errors. */
function withoutWords(commands: readonly Command[]): Command[] {
  return commands
    .filter((command) => !isNearMiss(command))
    .map((command) => (command.type === "PARSE_ERROR" ? { type: "PARSE_ERROR", message: command.message } : command));
}

test("the parser returns the commands of the naive parser", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(nearInbox, (text) => {
      const commands = parseInbox(text);
      for (const command of commands) {
        seen.add(command.type === "PARSE_ERROR" ? command.message.replace(/'.*'|line.*/s, "") : command.type);
      }
      expect(withoutWords(commands)).toEqual(parseNaively(text));
    }),
    { numRuns: 4_000 },
  );
  // Every kind must occur, otherwise the texts prove nothing about it.
  expect([...seen].toSorted()).toEqual([
    ...["CREATE_FILE", "CREATE_FILE for  missing closing tag", "CREATE_FILE missing path attribute"],
    ...["DELETE_FILE", "DELETE_FILE missing path attribute", "DONE", "DONE missing closing tag"],
    ...["EDIT_FILE", "EDIT_FILE for  missing closing tag"],
    ...["EDIT_FILE missing required attributes (path, start_", "EDIT_FILE start_"],
    ...["MESSAGE", "MESSAGE missing closing tag", "READ_FILE", "READ_FILE missing path attribute"],
    ...["RUN_COMMAND", "RUN_COMMAND missing closing tag"],
    ...["inbox repeats the protocol instructions; nothing was executed", "unrecognised: "],
  ]);
});

test("nothing throws, and at most the last entry is a near miss", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const commands = parseInbox(text);
      expect(commands.slice(0, -1).some(isNearMiss)).toBe(false);
      expect(readHeader(text)).toBeTypeOf("object");
    }),
    { numRuns: 2_000 },
  );
});

test("every executed body occurs in the text, except for CRs at line ends", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const plain = text
        .split("\n")
        .map((line) => line.replace(/\r+$/, ""))
        .join("\n");
      for (const command of parseInbox(text)) {
        if (command.type !== "PARSE_ERROR" && command.type !== "READ_FILE" && command.type !== "DELETE_FILE") {
          expect(plain).toContain(bodyOf(command));
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

test("printed commands are parsed back unchanged, with prose between them", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(printable, prose), { maxLength: 8 }), (parts) => {
      const text = parts.map(([command, between]) => `${between}\n${print(command)}\n`).join("");
      expect(parseInbox(text)).toEqual(parts.map(([command]) => command));
    }),
    { numRuns: 1_000 },
  );
});

type Executable = Exclude<Command, { type: "PARSE_ERROR" }>;

function bodyOf(command: Exclude<Executable, { type: "READ_FILE" | "DELETE_FILE" }>): string {
  switch (command.type) {
    case "CREATE_FILE":
    case "EDIT_FILE":
      return command.content;
    case "RUN_COMMAND":
      return command.command;
    case "MESSAGE":
      return command.text;
    case "DONE":
      return command.message;
  }
}

const end = "the-end-4711";
const anyLines = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("[/CREATE_FILE]", "[DONE]", "[done]", "", "\t\u0085", "a\rb"),
    ),
  )
  .map((lines) => lines.join("\n").replace(/\r+(?=\n|$)/g, ""))
  .filter((body) => !/^=== \w+ ===$|\[\/(?:RUN_COMMAND|MESSAGE|DONE)\]/m.test(body));
const path = fc.string({ unit: "binary" }).map((each) => each.replace(/["\n]/g, "-"));
const lineNumber = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const printable: fc.Arbitrary<Executable> = fc.oneof(
  fc.record({ type: fc.constant("CREATE_FILE" as const), path, content: anyLines }),
  fc.record({
    type: fc.constant("EDIT_FILE" as const),
    path,
    startLine: lineNumber,
    endLine: lineNumber,
    content: anyLines,
  }),
  fc.record({ type: fc.constantFrom("READ_FILE" as const, "DELETE_FILE" as const), path }),
  fc.record({ type: fc.constant("RUN_COMMAND" as const), command: anyLines.map(trim) }),
  fc.record({ type: fc.constant("MESSAGE" as const), text: anyLines.map(trim) }),
  fc.record({ type: fc.constant("DONE" as const), message: anyLines.map(trim) }),
);
const prose = fc.constantFrom(
  "",
  "Then:",
  "```",
  "- [DONE]",
  "[x]",
  "=== CONTEXT ===",
  "[/DONE]",
  "> [x]",
  "\ufeff[x]",
);

function print(command: Executable): string {
  const { type } = command;
  switch (type) {
    case "READ_FILE":
    case "DELETE_FILE":
      return `[${type} path="${command.path}"]`;
    case "CREATE_FILE":
      return `[${type} path="${command.path}" end="${end}"]\n${command.content}\n[/${type} ${end}]`;
    case "EDIT_FILE": {
      const { path: file, startLine, endLine, content } = command;
      return `[${type} end="${end}" path="${file}" start_line="${startLine}" end_line="${endLine}"]\n${content}\n[/${type} ${end}]`;
    }
    default:
      return `[${type}]\n${bodyOf(command)}\n[/${type}]`;
  }
}
