// A reader of a log that asks for the beginning of the texts which repeat earlier entries.

import { describe, expect } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { answer } from "../fakes/provider.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { startConversation, test } from "./stage.ts";
import { findSurface, withoutFeeds } from "./surfaces.ts";

const grpc = findSurface("gRPC");
/** Larger than a page of the log. */
const long = "🦊 and so on".repeat(25_000);
const chars = 11 * 25_000;
/** The first two characters have five. */
const bytesLeftOut = Buffer.byteLength(long) - 5;

async function readLog(target: string, request: { runId: string; after?: bigint; textCharsMax?: number }) {
  const results: RunResult[] = [];
  for await (const response of new GrpcClient(target).stream(RunService.method.tailRun, request)) {
    results.push(...response.results);
  }
  return results;
}

/** What a result says, without its times. */
function textsOf({ sequence, payload, bytesLeftOut: left }: RunResult): unknown[] {
  switch (payload.case) {
    case "messageDelta":
      return [sequence, payload.value.chunk?.content, left];
    case "messageCompleted":
      return [sequence, payload.value.message?.content.value, left];
    case "runCompleted":
      return [sequence, payload.value.message?.content.value, left, payload.value.turns];
    default:
      return [sequence, left];
  }
}

describe.each([
  { ...grpc, name: "as a feed" },
  { ...withoutFeeds(grpc), name: "by its handler" },
])("a log $name", (kind) => {
  test.override("kind", kind);

  test("has as much of the texts that repeat as its reader asks for, while it is written and later", async ({
    stage,
  }) => {
    stage.provider.respond(answer(long));
    const { runId } = await startConversation(stage.api);
    const { target } = stage.service;
    const [live, whole] = await Promise.all([readLog(target, { runId, textCharsMax: 2 }), readLog(target, { runId })]);
    const isRepeat = ({ payload }: RunResult): boolean => /Completed$/.test(payload.case ?? "");
    const last = BigInt(whole.length);
    expect(whole.filter(isRepeat).map(textsOf)).toEqual([
      [last - 1n, long, 0],
      [last, long, 0, 1],
    ]);
    expect(live.filter(isRepeat).map(textsOf)).toEqual([
      [last - 1n, "🦊 ", bytesLeftOut],
      [last, "🦊 ", bytesLeftOut, 1],
    ]);
    // Pieces repeat nothing.
    const others = whole.filter((result) => !isRepeat(result));
    expect(live.filter((result) => !isRepeat(result))).toEqual(others);
    expect(await readLog(target, { runId, textCharsMax: 2 })).toEqual(live);
    expect(await readLog(target, { runId, textCharsMax: 2, after: last - 1n })).toEqual(live.slice(-1));
    expect(await readLog(target, { runId, textCharsMax: chars })).toEqual(whole);
  });
});

test("a reader of events asks in the address", async ({ stage }) => {
  stage.provider.respond(answer(long));
  const { runId } = await startConversation(stage.api);
  const read = async (max: number): Promise<string> => {
    const path = `/v1/runs/${runId}/results:tail?text_chars_max=${max}`;
    return await (await fetch(`${stage.service.url}${path}`, { headers: credentialsOf() })).text();
  };
  expect((await read(2)).match(/"bytes_left_out":349995/g)).toHaveLength(2);
  expect(await read(0)).not.toContain("bytes_left_out");
  expect(await read(-1)).toContain("text_chars_max");
});
