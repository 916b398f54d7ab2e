// The output of a run, as its entries have it.

import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { type MessageChunk, MessageChunkSchema } from "#gen/runnel/v1/message_pb.js";
import { Output } from "../../../src/protocols/langbot/runners/results/output.ts";

/** The maximum message of gRPC clients, less room for the other fields. */
const entryBytesMax = 4 * 1_048_576 - 65_536;

test("a revision after long messages of three-byte characters fits into a gRPC message", () => {
  const output = new Output();
  const say = (content: string, isFinal = false): MessageChunk => {
    const taken = output.readChunk(create(MessageChunkSchema, { content, isFinal }), "snapshot");
    output.addChunk(taken);
    return taken.chunk;
  };
  for (let message = 0; message < 4; message++) {
    say("€".repeat(250_000), true);
  }
  say("begun");
  const revised = say("€".repeat(699_000));
  expect(revised.replacesText).toBe(true);
  expect(revised.content.endsWith("€".repeat(699_000))).toBe(true);
  expect(toBinary(MessageChunkSchema, revised).length).toBeLessThan(entryBytesMax);
});
