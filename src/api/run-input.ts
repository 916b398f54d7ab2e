// Checks the messages that a caller gives a run: their roles, their content, and that results of tools answer calls.

import { create } from "@bufbuild/protobuf";
import { type Message, MessageSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import { invalidField } from "../platform/base/fault.ts";

/** Returns the message of a user who sends text. */
export function userMessage(text: string): Message {
  return create(MessageSchema, { role: "user", content: { case: "text", value: text } });
}

/** Returns whether the messages begin with the result of a call that was made before them. */
export function beginsWithResult(messages: readonly Message[]): boolean {
  return messages[0]?.role === "tool";
}

/** Returns the calls of the last assistant's message that have no result yet. */
export function openCallsOf(transcript: readonly Message[]): readonly ToolCall[] {
  const asked = transcript.findLastIndex(({ role }) => role !== "tool");
  const answered = new Set(transcript.slice(asked + 1).map(({ toolCallId }) => toolCallId));
  return (transcript[asked]?.toolCalls ?? []).filter(({ id }) => !answered.has(id));
}

const roles: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant", "tool"]);

/**
 * Returns the messages as the transcript keeps them. `openCalls` are the calls that have no result when the messages arrive.
 * @throws Fault INVALID_ARGUMENT that names the first invalid message.
 */
export function checkMessages(messages: readonly Message[], openCalls: readonly ToolCall[]): readonly Message[] {
  const checked = checkHistory(messages, openCalls);
  const last = checked.at(-1);
  if (last?.role !== "user" && last?.role !== "tool" && !(checked.length > 1 && isBegunAnswer(last))) {
    throw invalidField(
      `messages[${checked.length - 1}].role`,
      "must be user or tool: the model answers the last message",
    );
  }
  return checked;
}

/** Does the same for messages of which the last one may be of any role. */
export function checkHistory(messages: readonly Message[], openCalls: readonly ToolCall[]): readonly Message[] {
  const answers = new Answers(openCalls);
  const checked = messages.map((message, index) => {
    const field = `messages[${index}]`;
    if (!roles.has(message.role)) {
      throw invalidField(`${field}.role`, `must be one of ${[...roles].join(", ")}`);
    }
    if (message.role === "tool") {
      const { name } = answers.take(message.toolCallId ?? "", field);
      return { ...message, name: message.name ?? name };
    }
    answers.ask(message.toolCalls, field);
    if (message.role === "user" && isEmpty(message)) {
      throw invalidField(`${field}.content`, "is missing: give text or parts");
    }
    return message;
  });
  answers.ask([], "messages");
  return checked;
}

/** Whether the model may continue a message of its own: one with calls waits for their results. */
function isBegunAnswer(message: Message | undefined): boolean {
  return message?.role === "assistant" && message.toolCalls.length === 0 && !isEmpty(message);
}

function isEmpty({ content }: Message): boolean {
  return content.case === "parts" ? content.value.elements.length === 0 : !content.value;
}

/** The calls that wait for results: either all of them get one, or none. */
class Answers {
  #open: readonly ToolCall[];
  #hasSome = false;

  constructor(open: readonly ToolCall[]) {
    this.#open = open;
  }

  take(id: string, field: string): ToolCall {
    const call = this.#open.find((each) => each.id === id);
    if (call === undefined) {
      const open = this.#open.map((each) => JSON.stringify(each.id)).join(", ");
      throw invalidField(`${field}.tool_call_id`, `answers no open call; open calls: ${open || "none"}`);
    }
    this.#open = this.#open.filter((each) => each !== call);
    this.#hasSome = true;
    return call;
  }

  ask(calls: readonly ToolCall[], field: string): void {
    const [missing] = this.#open;
    if (this.#hasSome && missing !== undefined) {
      throw invalidField(field, `answer all open calls or none: ${JSON.stringify(missing.id)} has no result`);
    }
    this.#open = calls;
    this.#hasSome = false;
  }
}
