// What models call, and what clients say about their tools.

import { randomUUID } from "node:crypto";
import { parseArguments } from "../../../src/agent/tools/arguments.ts";
import { refuseCommand } from "../../../src/agent/tools/bash/deny-list.ts";
import { commandBytesMax } from "../../../src/agent/tools/bash/limits.ts";
import { CappedText, capContent } from "../../../src/agent/tools/cap.ts";
import { mendParameters } from "../../../src/agent/tools/mend-schema.ts";
import { countOccurrences, replaceOccurrences } from "../../../src/agent/tools/occurrences.ts";
import { printArguments } from "../../../src/agent/tools/print-arguments.ts";
import { readAnswer } from "../../../src/agent/tools/remote-answer.ts";
import { readSchema } from "../../../src/agent/tools/schema.ts";
import { compileGlob, leadsUp, splitGlob } from "../../../src/agent/tools/search/glob-pattern.ts";
import type { GrowthCase } from "../growth.ts";
import { jsonTexts, plainTexts } from "../inputs.ts";
import { flat, pairs } from "./pairs.ts";

const signal = new AbortController().signal;

function named(size: number, schemaOf: (at: number) => object): Record<string, object> {
  return Object.fromEntries(Array.from({ length: size }, (_, at) => [`d${at}`, schemaOf(at)]));
}

const schemas: Readonly<Record<string, (size: number) => Readonly<Record<string, unknown>>>> = {
  "a chain of references": (size) => ({
    $ref: "#/$defs/d0",
    $defs: named(size / 20, (at) => ({ [`x${at}`]: 1, $ref: `#/$defs/d${at + 1}` })),
  }),
  "many references to one with a long pointer": (size) => ({
    properties: named(size / 40, () => ({ $ref: "#/$defs/long" })),
    $defs: { long: { $ref: `#${"/a".repeat(size / 2)}` } },
  }),
  "references in a circle": (size) => ({
    properties: named(size / 40, () => ({ $ref: "#/$defs/a" })),
    $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
  }),
  "many properties": (size) => ({ properties: named(size / 20, () => ({ type: "string", required: true })) }),
  "many required names": (size) => ({ required: Array.from({ length: size / 6 }, (_, at) => `n${at}`) }),
  "many types": (size) => ({ properties: { a: { type: Array.from({ length: size / 6 }, (_, at) => `t${at}`) } } }),
  "many parts of allOf": (size) => ({ allOf: Array.from({ length: size / 20 }, () => ({ type: "object" })) }),
  "many patterns": (size) => ({ properties: named(size / 30, () => ({ pattern: "^(a+)+$" })) }),
  "a long pattern": (size) => ({ properties: { a: { pattern: "(".repeat(size) } } }),
  "a long enum": (size) => ({ properties: { a: { enum: Array.from({ length: size / 6 }, (_, at) => `e${at}`) } } }),
};

const globs: Readonly<Record<string, (size: number) => string>> = {
  "stars of directories": (size) => "**/".repeat(size / 3),
  stars: (size) => "*a".repeat(size / 2),
  choices: (size) => "{a,b}".repeat(size / 5),
  "nested choices": (size) => `${"{a,".repeat(Math.min(size / 4, 900))}b${"}".repeat(Math.min(size / 4, 900))}`,
  "open braces": (size) => "{".repeat(size),
  classes: (size) => "[!a-z]".repeat(size / 6),
};

export const toolCases: readonly GrowthCase[] = [
  ...Object.entries(schemas).map(
    ([input, make]): GrowthCase => ({
      reader: "mendParameters",
      input,
      prepare: (size) => {
        const schema = make(size);
        return () => mendParameters(schema, () => {});
      },
    }),
  ),
  {
    reader: "readSchema",
    input: "many properties",
    prepare: (size) => {
      // Schemas are cached by their text.
      const text = JSON.stringify({ ...schemas["many properties"]?.(size), title: randomUUID() });
      return () => readSchema(text, 60_000);
    },
  },
  {
    reader: "the check of arguments",
    input: "text that its pattern almost matches",
    prepare: (size) => {
      const schema = readSchema('{"properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}', 60_000);
      const args = { a: `${"a".repeat(size)}b` };
      return () => ("findProblem" in schema ? schema.findProblem(args) : undefined);
    },
  },
  ...["one letter", "line breaks", "mixed ends of lines"].map(
    (input): GrowthCase => ({
      reader: "countOccurrences and replaceOccurrences",
      input,
      prepare: (size) => {
        const content = Buffer.from(plainTexts[input]?.(size) ?? "");
        const part = Buffer.from(`${content.subarray(0, size / 4)}b`);
        const replacement = Buffer.from("c");
        return async () => {
          await countOccurrences(content, part, signal);
          const one = content.subarray(0, 1);
          const count = await countOccurrences(content, one, signal);
          return await replaceOccurrences(content, { part: one, replacement, count }, signal);
        };
      },
    }),
  ),
  ...Object.entries(globs).map(
    ([input, make]): GrowthCase => ({
      reader: "the compilation of globs",
      input,
      firstSize: 512,
      limit: "patternBytesMax, 4096 bytes, in a thread of its own",
      prepare: (size) => {
        const pattern = make(size);
        return () => [splitGlob(pattern), leadsUp(pattern), compileGlob(pattern)];
      },
    }),
  ),
  {
    reader: "a glob of many stars",
    input: "a long path",
    prepare: (size) => {
      const glob = compileGlob("**/*a*/**/*b*/**/*c");
      const path = flat("ab/".repeat(size / 3));
      return () => glob.matches(path);
    },
  },
  {
    reader: "CappedText",
    input: "many pieces",
    prepare: (size) => () => {
      const text = new CappedText();
      for (let at = 0; at < size; at += 1) {
        text.add("ab");
      }
      return text.toString();
    },
  },
  ...pairs(jsonTexts, {
    parseArguments: (text) => parseArguments(text),
    printArguments: (text) => {
      const parsed = parseArguments(text);
      return "args" in parsed ? printArguments(parsed.args, text) : undefined;
    },
  }),
  ...pairs(plainTexts, {
    capContent: (text) => capContent(text),
    readAnswer: (text) => [
      readAnswer({ status: 200, text, isCut: false }),
      readAnswer({ status: 500, text, isCut: false }),
    ],
    refuseCommand: (text) => refuseCommand(text.slice(0, commandBytesMax), "strict"),
  }),
];
