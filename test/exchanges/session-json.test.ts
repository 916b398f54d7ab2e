// The JSON form of an exchange session: its members are those of the document, an exported session can be imported, and an
// error of an import names its field.

import { create, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ExchangeSessionSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import type { CommandResult, CommandType } from "../../src/protocols/exchange/command.ts";
import { readSession, type SessionData, sessionToProto } from "../../src/protocols/exchange/session-json.ts";

const results: readonly CommandResult[] = [
  { type: "RUN_COMMAND", success: true, summary: "Ran 'make' (exit code 0)", output: "done\n" },
  { type: "PARSE_ERROR", success: false, summary: "DONE missing closing tag", output: "" },
];

const data: SessionData = {
  id: "a1b2c3d4",
  task: "Create a calculator app",
  sequence: 3,
  isComplete: false,
  createTime: new Date("2025-01-15T10:30:00Z"),
  updateTime: new Date("2025-01-15T10:35:00Z"),
  results,
  readRequests: ["src/Calculator.cs"],
};

test("a session has the members that the document shows", () => {
  expect(toJson(ExchangeSessionSchema, sessionToProto(data), { alwaysEmitImplicit: true })).toEqual({
    sessionId: "a1b2c3d4",
    task: "Create a calculator app",
    sequenceNumber: 3,
    isComplete: false,
    createdAt: "2025-01-15T10:30:00Z",
    updatedAt: "2025-01-15T10:35:00Z",
    lastResults: [
      { commandType: "RUN_COMMAND", summary: "Ran 'make' (exit code 0)", success: true, output: "done\n" },
      { commandType: "PARSE_ERROR", summary: "DONE missing closing tag", success: false, output: "" },
    ],
    readFileRequests: ["src/Calculator.cs"],
  });
});

test("an exported session can be imported in any state", () => {
  const { createTime: _created, updateTime: _updated, ...kept } = data;
  expect(readSession(sessionToProto(data))).toEqual(kept);
  const largest: SessionData = {
    ...data,
    task: "x".repeat(65_536),
    sequence: 1_000_000,
    isComplete: true,
    results: Array.from({ length: 1_000 }, () => ({
      type: "MESSAGE" as const,
      success: true,
      summary: "\u20ac".repeat(5_000),
      output: "y".repeat(4_000),
    })),
    readRequests: Array.from({ length: 1_000 }, () => "p".repeat(4_096)),
  };
  const exported = sessionToProto(largest);
  expect(sessionToProto({ ...largest, ...readSession(exported) })).toEqual(exported);
  expect(readSession(exported).results).toHaveLength(1_000);
});

test("an import accepts results of every type", () => {
  const types: readonly CommandType[] = [
    "CREATE_FILE",
    "EDIT_FILE",
    "DELETE_FILE",
    "READ_FILE",
    "RUN_COMMAND",
    "MESSAGE",
    "DONE",
    "PARSE_ERROR",
  ];
  const all = types.map((type) => ({ type, success: true, summary: "s", output: "" }));
  expect(readSession(sessionToProto({ ...data, results: all })).results).toEqual(all);
});

test("times may be missing", () => {
  expect(readSession(create(ExchangeSessionSchema, { sessionId: "00000000", task: "x", sequenceNumber: 1 }))).toEqual({
    id: "00000000",
    task: "x",
    sequence: 1,
    isComplete: false,
    results: [],
    readRequests: [],
  });
});
