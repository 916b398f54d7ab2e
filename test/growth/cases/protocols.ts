// What runners report, what people bring back from an exchange, and what events carry.

import { create } from "@bufbuild/protobuf";
import { AgentRunContextSchema } from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import { findKeyProblem, findValueProblem, trimValue } from "../../../src/engine/memory/state-text.ts";
import { editLines } from "../../../src/protocols/exchange/execute/edit-lines.ts";
import { fitResults } from "../../../src/protocols/exchange/fit-results.ts";
import { readHeader } from "../../../src/protocols/exchange/inbox/header.ts";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";
import { renderOutbox } from "../../../src/protocols/exchange/outbox/render.ts";
import { showPath } from "../../../src/protocols/exchange/outbox/show-path.ts";
import { readSearchFilters } from "../../../src/protocols/langbot/host/history-filters.ts";
import { readCountable, readFunctions } from "../../../src/protocols/langbot/host/messages.ts";
import { textsOfFields } from "../../../src/protocols/langbot/runners/config-fields.ts";
import { printContext } from "../../../src/protocols/langbot/runners/era.ts";
import { inputMessage } from "../../../src/protocols/langbot/runners/event-message.ts";
import { MediaTaker } from "../../../src/protocols/langbot/runners/inline-media.ts";
import { peekRunnerId, readManifest } from "../../../src/protocols/langbot/runners/manifest.ts";
import { parseRunnerId } from "../../../src/protocols/langbot/runners/runner-id.ts";
import { item, openIngest } from "../../runners/results/reported.ts";
import type { GrowthCase } from "../growth.ts";
import { jsonTexts, plainTexts } from "../inputs.ts";
import { pairs } from "./pairs.ts";

const types = ["message.delta", "message.completed", "tool.call.started", "state.updated", "run.completed", "my.own"];

/** Takes results one by one, as a worker reports them. */
function taken(size: number, resultAt: (at: number) => readonly [type: string, data: object]): () => void {
  const results = Array.from({ length: size }, (_, at) => item(at + 1, ...resultAt(at)));
  return () => {
    const ingest = openIngest({ limits: { resultsMax: 1_000_000 } });
    for (const each of results) {
      ingest.take([each]);
    }
  };
}

function chunk(content: string, more: object = {}): readonly [string, object] {
  return ["message.delta", { chunk: { role: "assistant", content, ...more } }];
}

const streams: Readonly<Record<string, (size: number) => () => void>> = {
  increments: (size) => taken(size, (at) => chunk(`${at} word `)),
  "increments of one letter": (size) => taken(size, () => chunk("a")),
  "increments of line breaks": (size) => taken(size, () => chunk("\n")),
  "final chunks": (size) => taken(size, (at) => chunk(`${at} word `, { is_final: true })),
  "a long text and then empty chunks": (size) => taken(size, (at) => chunk(at === 0 ? "word ".repeat(size * 20) : "")),
  "a long text and then short messages": (size) =>
    taken(size, (at) => chunk(at === 0 ? "word ".repeat(250_000) : `${at}`, { is_final: true })),
  "whole messages": (size) =>
    taken(size, (at) => ["message.completed", { message: { role: "assistant", content: `${at}` } }]),
  "values of the state": (size) => taken(size, (at) => ["state.updated", { scope: "runner", key: `k${at}`, value: 1 }]),
  "unknown types": (size) => taken(size, (at) => ["my.own", { at }]),
};

/** Blocks, and what people and models make of them. */
const inboxes: Readonly<Record<string, (size: number) => string>> = {
  "many commands": (size) => '[READ_FILE path="a"]\n'.repeat(size / 21),
  "many blocks": (size) => "[MESSAGE]\nhi\n[/MESSAGE]\n".repeat(size / 24),
  "a block without an end": (size) => `[MESSAGE]\n${"line\n".repeat(size / 5)}`,
  "opening tags alone": (size) => "[MESSAGE]\n".repeat(size / 10),
  "near misses": (size) => "**[MESSAGE] [/x**\n".repeat(size / 18),
  "near misses of the end": (size) => `[CREATE_FILE path="a" end="b"]\n${"[/CREATE_FILE b \n".repeat(size / 17)}x`,
  "a tag of many attributes": (size) => `[CREATE_FILE ${'a="b" '.repeat(size / 6)}]\n[/CREATE_FILE]\n`,
  "a tag of many equals signs": (size) => `[CREATE_FILE ${"a = ".repeat(size / 4)}]\n[/CREATE_FILE]\n`,
  "a tag of quotes": (size) => `[CREATE_FILE ${'="'.repeat(size / 2)}]\n[/CREATE_FILE]\n`,
  "a tag of words": (size) => `[CREATE_FILE ${"a".repeat(size)}=""]\n[/CREATE_FILE]\n`,
  "repeated outboxes": (size) => "=== PROTOCOL ===\n=== PROMPT ===\n".repeat(size / 32),
  "repeated prompts": (size) => `=== PROTOCOL ===\n${"=== PROMPT ===\n".repeat(size / 15)}`,
  "lines like headings": (size) => "=== PROTOCOL === \t===\n".repeat(size / 23),
  "a header of many lines": (size) => `=== HEADER ===\n${"Session: 0a1b2c3d\n".repeat(size / 18)}`,
  "blank lines": (size) => " \t\n".repeat(size / 3),
};

/** A configuration and a schema that both have many fields. */
function fieldsOf(size: number, nameOf: (at: number) => string): () => unknown {
  const schema = JSON.stringify(Array.from({ length: size / 10 }, (_, at) => ({ type: "llm", name: nameOf(at) })));
  const config = JSON.stringify(
    Object.fromEntries(Array.from({ length: size / 10 }, (_, at) => [`n${at}`, ["id", "id"]])),
  );
  return () => textsOfFields(schema, config, ["llm"]);
}

export const protocolCases: readonly GrowthCase[] = [
  ...Object.entries(streams).map(
    ([input, prepare]): GrowthCase => ({ reader: "the results of a run", input, firstSize: 500, prepare }),
  ),
  ...pairs(jsonTexts, {
    "the data of a result": (text) => {
      const ingest = openIngest();
      return types.map((type, at) => ingest.take([item(at + 1, type, text)]));
    },
    "the usage of a result": (text) => openIngest().take([item(1, "my.own", {}, { usage: text })]),
    readManifest: (text) => readManifest(text),
    peekRunnerId: (text) => peekRunnerId(text),
    findValueProblem: (text) => [findValueProblem(text), trimValue(text)],
    readSearchFilters: (text) => readSearchFilters(text),
    "the media of a message": (text) => new MediaTaker({ newId: () => "id", source: "event" }).takeMessage(text),
    "the media of an element": (text) =>
      new MediaTaker({ newId: () => "id", source: "event" }).takeElement(text, { field: "f", isAttachment: true }),
    "the message of an event": (text) =>
      inputMessage(
        { $typeName: "runnel.runner.v1.AgentInput", contents: [text], attachments: [] } as never,
        () => "id",
      ),
    "readCountable of a host's messages": (text) => readCountable([text]),
    "readFunctions of a host": (text) => readFunctions([text]),
    "the context of a runner, in every era": (text) =>
      (["spec", "ledger", "4.11"] as const).map((era) =>
        printContext(create(AgentRunContextSchema, { input: { attachments: [text] } }), era),
      ),
  }),
  {
    reader: "the context of a runner, in every era",
    input: "an attachment with one key many times",
    prepare: (size) => {
      const keys = ["type", "artifact_type", "artifact_id"];
      const attachments = keys.map((key) => `{${Array.from({ length: size / 10 }, () => `"${key}":1`).join(",")}}`);
      const context = create(AgentRunContextSchema, { input: { attachments } });
      return () => (["spec", "ledger", "4.11"] as const).map((era) => printContext(context, era));
    },
  },
  { reader: "textsOfFields", input: "many fields", prepare: (size) => fieldsOf(size, (at) => `n${at}`) },
  { reader: "textsOfFields", input: "one field many times", prepare: (size) => fieldsOf(size, () => "n1") },
  {
    reader: "textsOfFields",
    input: "fields that the configuration lacks",
    prepare: (size) => fieldsOf(size, (at) => `m${at}`),
  },
  {
    reader: "textsOfFields",
    input: "one long list in many fields",
    prepare: (size) => {
      const schema = JSON.stringify(Array.from({ length: size / 10 }, () => ({ type: "llm", name: "n" })));
      const config = JSON.stringify({ n: Array.from({ length: size / 10 }, () => "id") });
      return () => textsOfFields(schema, config, ["llm"]);
    },
  },
  ...pairs(plainTexts, {
    parseRunnerId: (text) => [parseRunnerId(text), parseRunnerId(`plugin:${text}`)],
    findKeyProblem: (text) => findKeyProblem(text),
    parseInbox: (text) => parseInbox(text),
    "readHeader of an inbox": (text) => readHeader(text),
    "editLines and showPath": (text) => [
      editLines(text, { startLine: 1, endLine: 1_000, content: "a" }),
      showPath(text),
    ],
    renderOutbox: (text) =>
      renderOutbox({
        exchangeId: "0a1b2c3d",
        sequence: 2,
        task: text,
        files: { files: [{ path: text, bytes: 1 }], moreFiles: 0, leftOut: undefined },
        results: [{ type: "MESSAGE", success: true, summary: text, output: text }],
        requested: [{ kind: "text", path: text, text }],
      }),
  }),
  ...pairs(inboxes, { parseInbox: (text) => parseInbox(text), "readHeader of an inbox": (text) => readHeader(text) }),
  {
    reader: "fitResults",
    input: "many results",
    prepare: (size) => {
      const results = Array.from({ length: size }, () => ({
        type: "MESSAGE" as const,
        success: true,
        summary: "a",
        output: "b",
      }));
      return () => fitResults(results);
    },
  },
];
