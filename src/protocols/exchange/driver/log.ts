// Writes the steps of an exchange as results of its log: a command reads like a tool call of any other run.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../../engine/log/result.ts";
import type { Command, CommandResult } from "../command.ts";

/** The position of a command. */
export interface CommandPlace {
  /** The number of the answered outbox. */
  readonly sequence: number;
  /** The index of the command in its inbox, from 0. */
  readonly position: number;
}

/** Returns the result that a turn has started. */
export function turnStarted(sequence: number): ResultInit {
  return { payload: { case: "turnStarted", value: { turn: sequence } } };
}

/** Returns the result that a command has started. A text has no such result: its end logs it. */
export function commandStarted(command: Command, place: CommandPlace): ResultInit[] {
  if (isText(command)) {
    return [];
  }
  const parameters = JSON.stringify(parametersOf(command));
  return [
    {
      payload: {
        case: "toolCallStarted",
        value: { toolCallId: callIdOf(place), toolName: command.type, parameters },
      },
    },
  ];
}

/** Returns the result that a command has ended; for a text, the completed message. */
export function commandEnded(command: Command, result: CommandResult, place: CommandPlace): ResultInit[] {
  const { success, summary, output } = result;
  if (isText(command)) {
    return [{ payload: { case: "messageCompleted", value: { message: sayingOf(summary) } } }];
  }
  const call = { toolCallId: callIdOf(place), toolName: command.type };
  const value = success
    ? { ...call, result: JSON.stringify({ content: output === "" ? summary : `${summary}\n${output}` }) }
    : { ...call, error: output === "" ? summary : `${summary}\n${output}` };
  return [{ payload: { case: "toolCallCompleted", value } }];
}

/** Returns a message of the assistant with this text. */
export function sayingOf(text: string): Message {
  return create(MessageSchema, { role: "assistant", content: { case: "text", value: text } });
}

function isText({ type }: Command): boolean {
  return type === "MESSAGE" || type === "DONE";
}

/** Returns the id of a command. It stays the same when the command is resumed. */
function callIdOf({ sequence, position }: CommandPlace): string {
  return `${sequence}.${position + 1}`;
}

/** The maximum length of content in the log. Longer content is logged by its size and hash; the inbox holds it. */
const shownCharactersMax = 65_536;

function parametersOf(command: Command): object {
  switch (command.type) {
    case "CREATE_FILE":
      return { path: command.path, ...contentOf(command.content) };
    case "EDIT_FILE": {
      const { path, startLine, endLine, content } = command;
      return { path, start_line: startLine, end_line: endLine, ...contentOf(content) };
    }
    case "DELETE_FILE":
    case "READ_FILE":
      return { path: command.path };
    case "RUN_COMMAND":
      return { command: command.command };
    default:
      return {};
  }
}

function contentOf(content: string): object {
  if (content.length <= shownCharactersMax) {
    return { content };
  }
  const bytes = Buffer.from(content);
  return { content_bytes: bytes.length, content_sha256: createHash("sha256").update(bytes).digest("hex") };
}
