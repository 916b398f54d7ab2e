// The steps of an exchange as results of its log: a command reads like any other run's call of a tool.

import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../../engine/log/result.ts";
import type { Command, CommandResult } from "../command.ts";

export interface CommandPlace {
  /** Of the outbox that was answered. */
  readonly sequence: number;
  /** Of the command in its inbox, from 0. */
  readonly position: number;
}

export function turnStarted(sequence: number): ResultInit {
  return { payload: { case: "turnStarted", value: { turn: sequence } } };
}

/** Nothing for a text: it is said when it is. */
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

export function sayingOf(text: string): Message {
  return create(MessageSchema, { role: "assistant", content: { case: "text", value: text } });
}

function isText({ type }: Command): boolean {
  return type === "MESSAGE" || type === "DONE";
}

/** The same when the command is looked at again. */
function callIdOf({ sequence, position }: CommandPlace): string {
  return `${sequence}.${position + 1}`;
}

/** A content that is longer is told by its size and hash: the inbox holds it. */
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
