// What a run has said so far, as far as its end needs it.

import { create } from "@bufbuild/protobuf";
import { type Message, type MessageChunk, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { compactJson, parseJsonText } from "../../base/json/text.ts";
import { countChars } from "./count-chars.ts";
import { messageJson } from "./message-json.ts";

/** Of text that came in pieces only. The log has the rest, and a terminal result has to stay small. */
const streamedCharsMax = 1_000_000;

export class Output {
  #lastMessage: Message | undefined;
  #streamed = "";
  #role = "assistant";
  #streamedChars = 0;
  #hasStreamed = false;
  #hasText = false;

  /** Characters of pieces since the last whole message. */
  get streamedChars(): number {
    return this.#streamedChars;
  }

  get hasStreamed(): boolean {
    return this.#hasStreamed;
  }

  get isEmpty(): boolean {
    return this.#lastMessage === undefined && !this.#hasText;
  }

  addPiece({ role, content }: MessageChunk): void {
    this.#hasStreamed = true;
    this.#streamedChars += countChars(content);
    this.#hasText ||= content !== "";
    this.#role = role;
    if (this.#streamed.length < streamedCharsMax) {
      this.#streamed += content.slice(0, streamedCharsMax - this.#streamed.length);
    }
  }

  addMessage(message: Message): void {
    this.#lastMessage = message;
    this.#streamed = "";
    this.#streamedChars = 0;
  }

  /** The message that a run ends with when its end has none: the last one, or what came in pieces. */
  get last(): Message | undefined {
    if (this.#lastMessage !== undefined || this.#streamed === "") {
      return this.#lastMessage;
    }
    const content = { case: "text", value: this.#streamed.toWellFormed() } as const;
    return create(MessageSchema, { role: this.#role, content });
  }

  /** Whether the last whole message was this one. */
  repeats(message: Message): boolean {
    return this.#lastMessage !== undefined && sortedJson(this.#lastMessage) === sortedJson(message);
  }
}

/** The same for the same message, whatever the order of its members. */
function sortedJson(message: Message): string {
  const json = messageJson(message);
  return compactJson(json, parseJsonText(json), { sortKeys: true });
}
