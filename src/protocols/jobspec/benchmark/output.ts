// What a region's run has to say in the end: every question with its answer, as one JSON object.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Response } from "../../../agent/response/respond.ts";

export interface Question {
  /** As the spec names it. */
  readonly model: string;
  readonly text: string;
}

export interface Answer {
  readonly text: string;
  /** Why the model ended it: `stop`, `length`, `content-filter` and others. */
  readonly finishReason: string;
}

/** A job is one message with the outputs of all its regions. What does not fit is in the log of the run. */
const outputCharsMax = 131_072;

export function userAsks({ text }: Question): Message {
  return create(MessageSchema, { role: "user", content: { case: "text", value: text } });
}

export function assistantSays(response: Response): Message {
  return create(MessageSchema, { role: "assistant", content: { case: "text", value: answerOf(response).text } });
}

export function answerOf({ text, finishReason }: Response): Answer {
  return { text: text.toWellFormed(), finishReason };
}

export function printOutput({
  region,
  questions,
  answers,
}: {
  region: string;
  questions: readonly Question[];
  answers: readonly Answer[];
}): Message {
  let left = outputCharsMax;
  const responses = answers.map(({ text: response, finishReason }, index) => {
    const { model, text: question } = questions[index] ?? { model: "", text: "" };
    left -= question.length + response.length;
    const said = left >= 0 ? { question, response } : { in_log: true };
    return { model, turn: index + 1, ...said, finish_reason: finishReason };
  });
  const value = JSON.stringify({ region, responses });
  return create(MessageSchema, { role: "assistant", content: { case: "text", value } });
}

export function textOf(message: Message | undefined): string {
  return message?.content.case === "text" ? message.content.value : "";
}
