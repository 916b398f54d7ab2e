// Signed JobSpecs, bodies of the forum, decisions of models, and contracts of chains.

import { parseDecision } from "../../../src/protocols/community/decisions/parse.ts";
import { createRedact, redactJson } from "../../../src/protocols/community/decisions/redact.ts";
import { readArguments as readActionArguments } from "../../../src/protocols/community/decisions/wei.ts";
import { isThere, readAbi } from "../../../src/protocols/community/evm/abi.ts";
import { readArguments } from "../../../src/protocols/community/evm/arguments.ts";
import { findAbiProblem, listAbiFunctions } from "../../../src/protocols/community/forum/abi.ts";
import { SignedBody } from "../../../src/protocols/community/forum/signing/body.ts";
import { decodeBase64 } from "../../../src/protocols/jobspec/verification/base64.ts";
import { canonicalText } from "../../../src/protocols/jobspec/verification/canonical-v1.ts";
import { canonicalTextV2 } from "../../../src/protocols/jobspec/verification/canonical-v2.ts";
import { findDifference } from "../../../src/protocols/jobspec/verification/diagnosis/diagnose.ts";
import { printAs } from "../../../src/protocols/jobspec/verification/diagnosis/writing.ts";
import { readDocument } from "../../../src/protocols/jobspec/verification/json.ts";
import { setMembers } from "../../../src/protocols/jobspec/verification/splice.ts";
import { parseTrustList } from "../../../src/protocols/jobspec/verification/trust-list.ts";
import type { GrowthCase } from "../growth.ts";
import { jsonTexts, plainTexts } from "../inputs.ts";
import { pairs } from "./pairs.ts";

const redact = createRedact((text) => text);

const abi = (type: string): string =>
  JSON.stringify([
    { type: "function", name: "f", inputs: [{ type, name: "a" }], outputs: [], stateMutability: "view" },
  ]);

export const specCases: readonly GrowthCase[] = [
  ...pairs(jsonTexts, {
    readDocument: (text) => readDocument(Buffer.from(text)),
    "canonical text, version 1": (text) => Buffer.from(canonicalText(readDocument(Buffer.from(text)).object)),
    "canonical text, version 2": (text) => Buffer.from(canonicalTextV2(readDocument(Buffer.from(text)).object)),
    printAs: (text) => Buffer.from(printAs(readDocument(Buffer.from(text)).object)),
    setMembers: (text) => setMembers(readDocument(Buffer.from(text)), { a: "1", signature: '"s"' }),
    "the stable text of a forum's body": (text) => Buffer.from(SignedBody.of(text).stableText),
    parseDecision: (text) => parseDecision(text),
    "parseDecision in prose": (text) => parseDecision(`So I say: ${text} and ${text}`),
    "redactJson of a decision": (text) => parseDecision(text).actions.map((each) => redactJson(each, redact)),
    listAbiFunctions: (text) => [listAbiFunctions(text), findAbiProblem(`[${text}]`)],
  }),
  ...pairs(plainTexts, {
    "parseDecision of text": (text) => parseDecision(text),
    "parseDecision of a block": (text) => parseDecision(`\`\`\`json\n${text}\n\`\`\``),
    "parseDecision of thoughts": (text) => parseDecision(`<think>${text}`),
    "redaction of a text": (text) => redact(text),
    isThere: (text) => isThere(text),
    "readAbi of a type": (text) => readAbi(abi(text), "f"),
    "decodeBase64 as Go does": (text) => decodeBase64(text),
    findDifference: (text) => findDifference(Buffer.from(text), Buffer.from(`${text}b`)),
    parseTrustList: (text) => parseTrustList(text),
  }),
  ...pairs(
    {
      "opening brackets of objects": (size) => '{"a":'.repeat(size / 5),
      "opening brackets in prose": (size) => "[1, ".repeat(size / 4),
      "decisions in a row": (size) => '{"action":"comment"} '.repeat(size / 20),
      "decisions with a slip": (size) => '{"action":"comment",} '.repeat(size / 21),
      "comments without an end": (size) => `[${"/* ".repeat(size / 3)}`,
      "line comments": (size) => `[\n${"// a\n".repeat(size / 5)}`,
      "curly quotes": (size) => "[\u201ca\u201d, ".repeat(size / 5),
      fences: (size) => "```json\n".repeat(size / 8),
      "strings without an end": (size) => '{"a":"b '.repeat(size / 8),
    },
    { "parseDecision of near misses": (text) => parseDecision(text) },
  ),
  {
    reader: "the arguments of a transaction",
    input: "deep and wide lists",
    prepare: (size) => {
      const args = Array.from({ length: size / 10 }, () => [[["1"]]]);
      return () => readActionArguments(args);
    },
  },
  {
    reader: "the arguments of a contract",
    input: "a list of many items",
    prepare: (size) => {
      const { functions } = readAbi(abi("uint256[]"), "f");
      const args = [Array.from({ length: Math.min(size / 2, 9_000) }, (_, at) => `${at}`)];
      return () => readArguments(functions[0], args);
    },
  },
  {
    reader: "readAbi",
    input: "many functions and errors",
    prepare: (size) => {
      const items = Array.from({ length: size / 20 }, (_, at) => ({
        type: at % 2 === 0 ? "error" : "function",
        name: `f${at}`,
        inputs: [],
      }));
      const text = JSON.stringify([...items, { type: "function", name: "f" }]);
      return () => readAbi(text, "f");
    },
  },
];
