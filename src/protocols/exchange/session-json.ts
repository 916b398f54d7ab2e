// The file form of an exchange (Session Management, Session State): its export and its import. Every export can be imported.

import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ExchangeSession,
  type ExchangeSession_Result,
  ExchangeSession_ResultSchema,
  ExchangeSessionSchema,
} from "#gen/runnel/exchange/v1/exchange_pb.js";
import { invalidField } from "../../platform/base/fault.ts";
import { type CommandResult, type CommandType, commandsMax } from "./command.ts";
import { countBytes, fitResults, resultsBytesMax } from "./fit-results.ts";

/** The data of an exported exchange. */
export interface SessionData {
  readonly id: string;
  readonly task: string;
  readonly sequence: number;
  readonly isComplete: boolean;
  readonly createTime: Date;
  readonly updateTime: Date;
  readonly results: readonly CommandResult[];
  readonly readRequests: readonly string[];
}

/** The data of an imported exchange. Times are not read: an imported exchange begins at its import. */
export type ImportedSession = Omit<SessionData, "createTime" | "updateTime">;

/**
 * Converts an exchange for export. Its results are shortened like those of an outbox when they are too many for one message.
 */
export function sessionToProto(data: SessionData): ExchangeSession {
  return create(ExchangeSessionSchema, {
    sessionId: data.id,
    task: data.task,
    sequenceNumber: data.sequence,
    isComplete: data.isComplete,
    createdAt: timestampFromDate(data.createTime),
    updatedAt: timestampFromDate(data.updateTime),
    lastResults: fitResults(data.results).map(resultToProto),
    readFileRequests: [...data.readRequests],
  });
}

/**
 * Reads an imported exchange.
 * @throws Fault INVALID_ARGUMENT that names the field in `session`.
 */
export function readSession(session: ExchangeSession): ImportedSession {
  const { sessionId, task, sequenceNumber, isComplete, lastResults, readFileRequests } = session;
  checkId(sessionId);
  checkTask(task);
  checkSequence(sequenceNumber);
  checkCount("session.lastResults", lastResults.length);
  const results = lastResults.map(readResult);
  if (countBytes(results) > resultsBytesMax) {
    throw invalidField("session.lastResults", `must not take more than ${resultsBytesMax} bytes together`);
  }
  checkCount("session.readFileRequests", readFileRequests.length);
  for (const [index, path] of readFileRequests.entries()) {
    checkPath(`session.readFileRequests[${index}]`, path);
  }
  return { id: sessionId, task, sequence: sequenceNumber, isComplete, results, readRequests: [...readFileRequests] };
}

function resultToProto({ type, summary, success, output }: CommandResult): ExchangeSession_Result {
  return create(ExchangeSession_ResultSchema, { commandType: type, summary, success, output });
}

function checkId(id: string): void {
  if (!/^[0-9a-f]{8}$/.test(id)) {
    throw invalidField("session.sessionId", "must be 8 lower-case hexadecimal digits");
  }
}

/** The maximum size of a task, as in StartExchange. */
const taskBytesMax = 65_536;

function checkTask(task: string): void {
  if (!/[^\t\n\f\r ]/.test(task)) {
    throw invalidField("session.task", "must hold more than white space");
  }
  if (task.includes("\0")) {
    throw invalidField("session.task", "must not contain a NUL character");
  }
  if (Buffer.byteLength(task) > taskBytesMax) {
    throw invalidField("session.task", `must be ${taskBytesMax} bytes or less`);
  }
}

/** The maximum sequence of an import. No person carries so many messages, and the number still has room to grow. */
const sequenceMax = 1_000_000;

function checkSequence(sequence: number): void {
  if (!Number.isInteger(sequence) || sequence < 1 || sequence > sequenceMax) {
    throw invalidField("session.sequenceNumber", `must be from 1 to ${sequenceMax}`);
  }
}

/** Checks a count of results or requests. An inbox has at most `commandsMax` commands, so it cannot give more of either. */
function checkCount(field: string, count: number): void {
  if (count > commandsMax) {
    throw invalidField(field, `must have ${commandsMax} entries or less`);
  }
}

const commandTypes = {
  CREATE_FILE: true,
  EDIT_FILE: true,
  DELETE_FILE: true,
  READ_FILE: true,
  RUN_COMMAND: true,
  MESSAGE: true,
  DONE: true,
  PARSE_ERROR: true,
} as const satisfies Record<CommandType, true>;

function readResult({ commandType, summary, success, output }: ExchangeSession_Result, index: number): CommandResult {
  if (!isCommandType(commandType)) {
    const known = Object.keys(commandTypes).join(", ");
    throw invalidField(`session.lastResults[${index}].commandType`, `must be one of ${known}`);
  }
  return { type: commandType, success, summary, output };
}

function isCommandType(text: string): text is CommandType {
  return Object.hasOwn(commandTypes, text);
}

/** The maximum path length of the system. */
const pathBytesMax = 4_096;

function checkPath(field: string, path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes === 0 || bytes > pathBytesMax) {
    throw invalidField(field, `must have 1 to ${pathBytesMax} bytes`);
  }
  // No file name contains NUL, and the database cannot store it in a text.
  if (path.includes("\0")) {
    throw invalidField(field, "must not contain a NUL character");
  }
}
