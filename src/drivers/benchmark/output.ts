// What a region's run has to say in the end: every question with its answer, as one JSON object.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Response } from "../response/respond.ts";

export interface Question {
  /** As the spec names it. */
  readonly model: string;
  readonly text: string;
}

/** Far below what readers of any surface can take. What does not fit is in the log. */
const outputCharsMax = 1_048_576;

export function userAsks({ text }: Question): Message {
  return create(MessageSchema, { role: "user", content: { case: "text", value: text } });
}

export function assistantSays({ text }: Response): Message {
  return create(MessageSchema, { role: "assistant", content: { case: "text", value: text.toWellFormed() } });
}

/** `transcript` holds each question and its answer in turn. */
export function printOutput({
  region,
  questions,
  transcript,
}: {
  region: string;
  questions: readonly Question[];
  transcript: readonly Message[];
}): Message {
  let left = outputCharsMax;
  const responses = questions.map(({ model, text: question }, index) => {
    const response = textOf(transcript[2 * index + 1]);
    left -= question.length + response.length;
    return left >= 0 ? { model, question, response } : { model, turn: index + 1, in_log: true };
  });
  const value = JSON.stringify({ region, responses });
  return create(MessageSchema, { role: "assistant", content: { case: "text", value } });
}

function textOf(message: Message | undefined): string {
  return message?.content.case === "text" ? message.content.value : "";
}
