// Encodes the results of one run, a batch at a time. The entries of a batch share one buffer: a buffer for each entry costs
// more than the rest of its encoding. Pieces of text arrive by the thousand, so they are written without building a message
// first.
//
// E1  The bytes written here equal those of `encodeResult`.

import { create, type DescField, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { MessageChunkSchema } from "#gen/runnel/v1/message_pb.js";
import { MessageDeltaSchema, ReasoningDeltaSchema, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { isCounted, isPlainText, type PlainChunk } from "./merge.ts";
import { encodeResult, isTerminal, LogEntry, type ResultInit } from "./result.ts";

/** A larger buffer is dropped after its batch. */
const keptBytesMax = 1_048_576;
const uint32Max = 0xffff_ffff;

const tags = {
  sequence: tagOf(RunResultSchema.field.sequence, WireType.Varint),
  messageDelta: tagOf(RunResultSchema.field.messageDelta, WireType.LengthDelimited),
  reasoningDelta: tagOf(RunResultSchema.field.reasoningDelta, WireType.LengthDelimited),
  chunk: tagOf(MessageDeltaSchema.field.chunk, WireType.LengthDelimited),
  role: tagOf(MessageChunkSchema.field.role, WireType.LengthDelimited),
  content: tagOf(MessageChunkSchema.field.content, WireType.LengthDelimited),
  msgSequence: tagOf(MessageChunkSchema.field.msgSequence, WireType.Varint),
  reasoning: tagOf(ReasoningDeltaSchema.field.content, WireType.LengthDelimited),
} as const;

/** Encodes the results of one run. */
export class ResultEncoder {
  readonly #runId: string;
  readonly #runIdField: Uint8Array;

  constructor(runId: string) {
    this.#runId = runId;
    this.#runIdField = toBinary(RunResultSchema, create(RunResultSchema, { runId }));
  }

  /** Encodes each result once; all readers get these bytes. The first result gets the sequence after `after`. */
  encode(inits: readonly ResultInit[], { after, timeMs }: { after: number; timeMs: number }): LogEntry[] {
    const writer = idleWriter ?? new BinaryWriter();
    // Kept again only after success: bytes written before an error would go out with the next batch.
    idleWriter = undefined;
    let sequence = after;
    for (const init of inits) {
      this.#write(writer, init, { sequence: ++sequence, timeMs });
    }
    const bytes = writer.finish();
    if (bytes.length <= keptBytesMax) {
      idleWriter = writer;
    }
    const reader = new BinaryReader(bytes);
    sequence = after;
    return inits.map(({ payload }) => {
      const place = { sequence: ++sequence, terminal: isTerminal(payload), payloadCase: payload?.case };
      return new LogEntry(place, reader.bytes());
    });
  }

  /** Writes an entry with its length before it. */
  #write(writer: BinaryWriter, init: ResultInit, place: { sequence: number; timeMs: number }): void {
    const delta = plainDeltaOf(init);
    if (delta === undefined) {
      writer.bytes(encodeResult(init, { runId: this.#runId, ...place }).bytes);
      return;
    }
    writer.fork().raw(this.#runIdField);
    writeSequence(writer, place.sequence);
    writer.raw(createTimeField(place.timeMs));
    if (delta.case === "messageDelta") {
      writeMessageDelta(writer, delta.value.chunk ?? {});
    } else {
      writeReasoningDelta(writer, delta.value);
    }
    writer.join();
  }
}

let idleWriter: BinaryWriter | undefined;

type Delta = Extract<ResultInit["payload"], { case: "messageDelta" | "reasoningDelta" }>;

/** Returns the payload when it has only fields that are written here; undefined otherwise. */
function plainDeltaOf(init: ResultInit): Delta | undefined {
  if (isCounted(init)) {
    return undefined;
  }
  const { payload } = init;
  if (payload?.case === "messageDelta") {
    const { chunk } = payload.value;
    const isWritten = isPlainText(chunk) && (chunk.logprobs?.length ?? 0) === 0;
    return isWritten && isKnown(chunk) && isKnown(payload.value) ? payload : undefined;
  }
  return payload?.case === "reasoningDelta" && isKnown(payload.value) ? payload : undefined;
}

/** Returns false for a message with fields of a newer version. */
function isKnown(message: object): boolean {
  return !("$unknown" in message);
}

function writeMessageDelta(writer: BinaryWriter, { role, content, msgSequence = 0 }: PlainChunk): void {
  writer.uint32(tags.messageDelta).fork().uint32(tags.chunk).fork();
  writeText(writer, tags.role, role);
  writeText(writer, tags.content, content);
  if (msgSequence !== 0) {
    writer.uint32(tags.msgSequence).int32(msgSequence);
  }
  writer.join().join();
}

function writeReasoningDelta(
  writer: BinaryWriter,
  { content }: Extract<Delta, { case: "reasoningDelta" }>["value"],
): void {
  writer.uint32(tags.reasoningDelta).fork();
  writeText(writer, tags.reasoning, content);
  writer.join();
}

function writeText(writer: BinaryWriter, tag: number, text = ""): void {
  if (text !== "") {
    writer.uint32(tag).string(text);
  }
}

/** Writes small numbers as uint32: the bytes are the same, and int64 needs a BigInt. */
function writeSequence(writer: BinaryWriter, sequence: number): void {
  writer.uint32(tags.sequence);
  if (sequence <= uint32Max) {
    writer.uint32(sequence);
  } else {
    writer.int64(sequence);
  }
}

let latestTime = { timeMs: Number.NaN, bytes: new Uint8Array() };

/** Returns the encoded time, which is the same for all batches of a millisecond. */
function createTimeField(timeMs: number): Uint8Array {
  if (timeMs !== latestTime.timeMs) {
    const message = create(RunResultSchema, { createTime: timestampFromMs(timeMs) });
    latestTime = { timeMs, bytes: toBinary(RunResultSchema, message) };
  }
  return latestTime.bytes;
}

function tagOf({ number }: DescField, wireType: WireType): number {
  return (number << 3) | wireType;
}
