// The output of a run so far: the last whole message, and the text of chunks since then.

import type { Message, MessageChunk } from "#gen/runnel/v1/message_pb.js";
import { compactJson, parseJsonText } from "../../../../platform/base/json/text.ts";
import { countChars } from "./count-chars.ts";
import { messageJson } from "./message-json.ts";
import { type ChunkContent, noMessage, readStreamed, type StreamedMessage } from "./stream-text.ts";

/** The maximum characters of streamed text. The log has the rest, and a terminal result has to stay small. */
const streamedCharsMax = 1_000_000;

/**
 * The maximum characters that a revision repeats of the messages before it, in one entry. A character takes at most three
 * bytes. So this and the 2 MiB of a result stay below the 4 MiB that gRPC clients accept.
 */
const charsBeforeRevisionMax = 349_525;

/** A chunk in its form for the log, and the output after it. */
export interface TakenChunk {
  readonly chunk: MessageChunk;
  /** Characters of chunks since the last whole message. */
  readonly chars: number;
  readonly next: Streamed;
}

/** Text of chunks since the last whole message. */
interface Streamed {
  /** Messages that have ended. */
  readonly ended: string;
  readonly message: StreamedMessage;
  readonly chars: number;
}

const nothingStreamed: Streamed = { ended: "", message: noMessage, chars: 0 };

/** The output of one run. */
export class Output {
  #lastMessage: Message | undefined;
  #streamed = nothingStreamed;
  #hasStreamed = false;

  get hasStreamed(): boolean {
    return this.#hasStreamed;
  }

  get isEmpty(): boolean {
    return this.#lastMessage === undefined && this.text === "";
  }

  /** The text of a run without whole messages; empty when it has one. */
  get text(): string {
    const { ended, message } = this.#lastMessage === undefined ? this.#streamed : nothingStreamed;
    return (ended + message.text).slice(0, streamedCharsMax).toWellFormed();
  }

  get lastMessage(): Message | undefined {
    return this.#lastMessage;
  }

  /** Turns a chunk into an increment, in place. It counts only after `addChunk`. */
  readChunk(chunk: MessageChunk, setting: ChunkContent): TakenChunk {
    const before = this.#streamed;
    const { message, added, replacesText, isNew } = readStreamed(before.message, chunk, setting);
    const hasRoom = before.ended.length < streamedCharsMax;
    const said = isNew && hasRoom ? (before.ended + before.message.text).slice(0, streamedCharsMax) : before.ended;
    const ended = replacesText ? said.slice(0, charsBeforeRevisionMax).toWellFormed() : said;
    const content = replacesText ? ended + added : added;
    const chars = (replacesText ? 0 : before.chars) + countChars(content);
    Object.assign(chunk, { content, replacesText, allContent: undefined });
    return { chunk, chars, next: { ended, message, chars } };
  }

  addChunk({ next }: TakenChunk): void {
    this.#hasStreamed = true;
    this.#streamed = next;
  }

  /** Recalls a chunk of the log, which is an increment. */
  recallChunk({ content, isFinal, replacesText }: MessageChunk): void {
    const { message, ended, chars } = replacesText ? nothingStreamed : this.#streamed;
    this.#hasStreamed = true;
    this.#streamed = {
      ended,
      message: { ...message, text: message.text + content, isEnded: isFinal },
      chars: chars + countChars(content),
    };
  }

  addMessage(message: Message): void {
    this.#lastMessage = message;
    this.#streamed = nothingStreamed;
  }

  /** Whether the message equals the last whole message. */
  repeats(message: Message): boolean {
    return this.#lastMessage !== undefined && sortedJson(this.#lastMessage) === sortedJson(message);
  }
}

/** Prints equal messages equally, regardless of the order of their members. */
function sortedJson(message: Message): string {
  const json = messageJson(message);
  return compactJson(json, parseJsonText(json), { sortKeys: true });
}
