// Writes the steps of a cycle as results of its log: an action reads like a tool call of any other run.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../../engine/log/result.ts";
import type { Json, JsonObject } from "../decisions/json.ts";
import { type Redact, redactJson } from "../decisions/redact.ts";

/** The outcome of an action. */
export type ActionEnd = { readonly result: Json } | { readonly error: string };

/** Returns the result that an action has started. */
export function actionStarted(raw: JsonObject, position: number, redact: Redact): ResultInit {
  const value = { ...callOf(raw, position, redact), parameters: redactJson(raw, redact) };
  return { payload: { case: "toolCallStarted", value } };
}

/** Returns the result that an action has ended. */
export function actionEnded(raw: JsonObject, position: number, end: ActionEnd, redact: Redact): ResultInit {
  const call = callOf(raw, position, redact);
  const value =
    "error" in end
      ? { ...call, error: redact(end.error) }
      : { ...call, result: JSON.stringify({ content: redactJson(end.result, redact) }) };
  return { payload: { case: "toolCallCompleted", value } };
}

/** Returns a message of the assistant with this text. */
export function assistantMessage(text: string): Message {
  return create(MessageSchema, { role: "assistant", content: { case: "text", value: text } });
}

/** Returns the id and name of an action. They stay the same when the action is resumed. */
function callOf(raw: JsonObject, position: number, redact: Redact) {
  const name = typeof raw.action === "string" ? redact(raw.action.trim()).slice(0, nameCharsMax) : "";
  return { toolCallId: `action.${position + 1}`, toolName: name || "unknown" };
}

/** The maximum length of a name in the log: an unknown action's name may be any text. */
const nameCharsMax = 64;
