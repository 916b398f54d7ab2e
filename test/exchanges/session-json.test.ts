// The JSON form of an exchange session: its members are those of the document, an exported session can be imported, and an
// error of an import names its field.

import { create, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ExchangeSessionSchema } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { Fault } from "../../src/platform/base/fault.ts";
import type { CommandResult, CommandType } from "../../src/protocols/exchange/command.ts";
import { resultsBytesMax } from "../../src/protocols/exchange/fit-results.ts";
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

type Changes = MessageInitShape<typeof ExchangeSessionSchema>;
const done = { commandType: "DONE", summary: "s" };

test.each<readonly [field: string, changes: Changes, fix: string]>([
  ["sessionId", { sessionId: "" }, "must be 8 lower-case hexadecimal digits"],
  ["sessionId", { sessionId: "A1B2C3D4" }, "must be 8 lower-case hexadecimal digits"],
  ["sessionId", { sessionId: "a1b2c3d4\n" }, "must be 8 lower-case hexadecimal digits"],
  ["sessionId", { sessionId: "../b2c3d" }, "must be 8 lower-case hexadecimal digits"],
  ["task", { task: "" }, "must hold more than white space"],
  ["task", { task: " \n\t" }, "must hold more than white space"],
  ["task", { task: "a\0b" }, "must not contain a NUL character"],
  ["task", { task: "\u20ac".repeat(21_846) }, "must be 65536 bytes or less"],
  ["sequenceNumber", { sequenceNumber: 0 }, "must be from 1 to 1000000"],
  ["sequenceNumber", { sequenceNumber: -1 }, "must be from 1 to 1000000"],
  ["sequenceNumber", { sequenceNumber: 1_000_001 }, "must be from 1 to 1000000"],
  ["lastResults[1].commandType", { lastResults: [done, { summary: "s" }] }, "must be one of CREATE_FILE, EDIT_FILE,"],
  ["lastResults[0].commandType", { lastResults: [{ commandType: "constructor" }] }, "must be one of CREATE_FILE,"],
  ["lastResults", { lastResults: Array.from({ length: 1_001 }, () => done) }, "must have 1000 entries or less"],
  [
    "lastResults",
    { lastResults: [{ ...done, summary: "x".repeat(resultsBytesMax) }] },
    "must not take more than 1048576 bytes together",
  ],
  [
    "readFileRequests",
    { readFileRequests: Array.from({ length: 1_001 }, () => "a") },
    "must have 1000 entries or less",
  ],
  ["readFileRequests[1]", { readFileRequests: ["a", ""] }, "must have 1 to 4096 bytes"],
  ["readFileRequests[0]", { readFileRequests: ["\u20ac".repeat(1_366)] }, "must have 1 to 4096 bytes"],
])("an import with an invalid session.%s names the field", (field, changes, fix) => {
  const session = create(ExchangeSessionSchema, { sessionId: "a1b2c3d4", task: "x", sequenceNumber: 1, ...changes });
  const fault = catchFault(() => readSession(session));
  expect(fault.reason).toBe("INVALID_ARGUMENT");
  expect(fault.violations.map((violation) => violation.field)).toEqual([`session.${field}`]);
  expect(fault.message.startsWith(`invalid session.${field}: ${fix}`)).toBe(true);
});

function catchFault(call: () => unknown): Fault {
  try {
    call();
  } catch (error) {
    if (error instanceof Fault) {
      return error;
    }
    throw error;
  }
  throw new Error("it was not refused");
}
