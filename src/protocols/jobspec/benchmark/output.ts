// The output of a region's run: every question with its answer, as one JSON object.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import type { Response } from "../../../agent/response/respond.ts";

/** A question to a model. */
export interface Question {
  /** The name in the spec. */
  readonly model: string;
  readonly text: string;
}

/** A model's answer. */
export interface Answer {
  readonly text: string;
  /** Why the model stopped: `stop`, `length`, `content-filter` and others. */
  readonly finishReason: string;
}

/** The maximum output of a region: a job is one message with the outputs of all regions. The run's log has the rest. */
const outputCharsMax = 131_072;

/** Makes a question the user's message. */
export function userAsks({ text }: Question): Message {
  return create(MessageSchema, { role: "user", content: { case: "text", value: text } });
}

/** Makes a response the assistant's message. */
export function assistantSays(response: Response): Message {
  return create(MessageSchema, { role: "assistant", content: { case: "text", value: answerOf(response).text } });
}

/** Returns the answer in a response. */
export function answerOf({ text, finishReason }: Response): Answer {
  return { text: text.toWellFormed(), finishReason };
}

/**
 * Prints the output:
 * `{"region":"EU","responses":[{"model":"m","turn":1,"question":"…","response":"…","finish_reason":"stop"}]}`.
 */
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

/** Returns the text of a message, or "" when it has none. */
export function textOf(message: Message | undefined): string {
  return message?.content.case === "text" ? message.content.value : "";
}
