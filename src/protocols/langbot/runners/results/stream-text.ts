// Turns the chunks of streamed messages into increments. Runners disagree about `content` of a chunk. It is the text of the
// message so far (a snapshot), or only the new text (an increment). Some send increments and then the whole text with
// `is_final`. message.proto states the rule at MessageChunk. Pure: a state and a chunk give the next state.
//
// S1  Joined increments are the runner's text, in every form of sending it. A revision is the one exception: it replaces the
//     text.
// S2  No chunk waits for a later one. A later chunk corrects a guess that it disproves.

import type { MessageChunk } from "#gen/runnel/v1/message_pb.js";
import type { Grant } from "../grant.ts";

/** The content of a runner's chunks; `auto` detects it for each message. */
export type ChunkContent = "auto" | NonNullable<Grant["delivery"]["chunkContent"]>;

/** A streamed message so far. */
export interface StreamedMessage {
  /** The text so far; at most `textCharsMax` of a message that came as increments. */
  readonly text: string;
  readonly isEnded: boolean;
  readonly reading: Reading;
}

/**
 * How chunks are read. `unknown`: a single chunk shows nothing. `guess`: each chunk began with the chunk before, and none was
 * conclusive. `latest` is the text if they are snapshots, `joined` the text if they are increments. `isJoined` says which one
 * is assumed.
 */
type Reading =
  | { readonly kind: "unknown" | "increment" | "snapshot" }
  | { readonly kind: "guess"; readonly latest: string; readonly joined: string; readonly isJoined: boolean };

/** The effect of one chunk. */
export interface ChunkStep {
  readonly message: StreamedMessage;
  /** The new text; with `replacesText`, the whole text of the message. */
  readonly added: string;
  /** The text was revised and the message continues. */
  readonly replacesText: boolean;
  /** The chunk begins another message. */
  readonly isNew: boolean;
}

/** The state before the first chunk of a message. */
export const noMessage: StreamedMessage = { text: "", isEnded: false, reading: { kind: "unknown" } };

/** More than the text of any one result: a longer whole text never arrives. */
const textCharsMax = 2_097_152;

type Chunk = Pick<MessageChunk, "content" | "allContent" | "isFinal">;

/** Reads one chunk. Returns the message after it, and the text that it adds. */
export function readStreamed(before: StreamedMessage, chunk: Chunk, setting: ChunkContent): ChunkStep {
  const isNew = before.isEnded && !continues(before, chunk, setting);
  const from = isNew ? noMessage : before;
  const next = nextText(from, chunk, setting);
  const isEnded = chunk.isFinal || (before.isEnded && !isNew && next.text === before.text);
  return {
    message: { text: next.text.slice(0, textCharsMax), isEnded, reading: next.reading },
    ...(next.isAppended ? { added: chunk.content, replacesText: false } : compare(from.text, next.text)),
    isNew,
  };
}

function compare(before: string, after: string): Pick<ChunkStep, "added" | "replacesText"> {
  // An empty chunk leaves the text as it is, and a comparison would read all of it.
  const replacesText = after !== before && !after.startsWith(before);
  return { added: replacesText ? after : after.slice(before.length), replacesText };
}

/** Whether a chunk after `is_final` still belongs to that message. */
function continues({ text, reading }: StreamedMessage, chunk: Chunk, setting: ChunkContent): boolean {
  const { content } = chunk;
  const allContent = statedText(chunk, setting);
  const isIncrement = setting === "increment" || (reading.kind === "increment" && allContent === undefined);
  return content === "" || (!isIncrement && (allContent ?? content).startsWith(text));
}

/** Returns the text so far when the runner states it beside `content`, else undefined. */
function statedText({ allContent }: Chunk, setting: ChunkContent): string | undefined {
  return setting === "auto" && allContent !== "" ? allContent : undefined;
}

interface NextText {
  readonly text: string;
  readonly reading: Reading;
  /** True when `content` of the chunk was appended unchanged. */
  readonly isAppended?: boolean;
}

function nextText({ text, reading }: StreamedMessage, chunk: Chunk, setting: ChunkContent): NextText {
  const { content, isFinal } = chunk;
  if (setting === "increment") {
    return { text: text + content, reading, isAppended: true };
  }
  const allContent = statedText(chunk, setting);
  const whole = allContent ?? content;
  if (whole === "" || (isFinal && text !== "" && whole.trim() === text.trim())) {
    return { text, reading };
  }
  if (text === "" || setting === "snapshot" || allContent !== undefined) {
    return { text: whole, reading };
  }
  return detect({ text, reading }, content, isFinal);
}

function detect({ text, reading }: NextText, content: string, isFinal: boolean): NextText {
  if (reading.kind === "increment") {
    const isWhole = isFinal && content.startsWith(text);
    return isWhole ? { text: content, reading } : { text: text + content, reading, isAppended: true };
  }
  if (reading.kind === "snapshot") {
    return { text: content, reading };
  }
  const { latest, ...before } =
    reading.kind === "guess" ? reading : { latest: text, joined: text, isJoined: undefined };
  const joined = before.joined + content;
  if (!content.startsWith(latest)) {
    return { text: joined, reading: { kind: "increment" } };
  }
  if (content.length > latest.length && isTelling(latest)) {
    return { text: content, reading: { kind: "snapshot" } };
  }
  // A snapshot that repeats the text is rare, except at the end of its message.
  const isRepeated = content === latest;
  const isJoined = !(isFinal && isRepeated) && (before.isJoined ?? isRepeated);
  if (!isJoined) {
    return { text: content, reading: { kind: "guess", latest: content, joined, isJoined } };
  }
  // No snapshot is that long, so the guess is settled.
  const isSurelyJoined = joined.length > textCharsMax;
  const guess: Reading = { kind: "guess", latest: content, joined, isJoined };
  return { text: joined, reading: isSurelyJoined ? { kind: "increment" } : guess, isAppended: true };
}

/** Whether an increment is unlikely to begin with this text by chance, unlike `ha`, `==` or a line break. */
function isTelling(text: string): boolean {
  return text.length > tellingCharsMin || new Set(text).size >= differentCharsMin;
}

const tellingCharsMin = 256;
const differentCharsMin = 4;
