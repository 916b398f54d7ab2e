// Readers of logs of which the database loses results.

import { setTimeout as delay } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import type { Member } from "../cluster.ts";
import type { LogReader } from "../log-reader.ts";

const pauseMs = 100;

/** Continues until the run has ended. */
export async function readToTheEnd(reader: LogReader, { client }: Member): Promise<void> {
  while ((await reader.follow(client)) !== status.OK) {
    await delay(pauseMs);
  }
}

/** Each result that a reader received is in the log as it was, or marked as lost. */
export function expectSameWhereKept(received: readonly RunResult[], stored: readonly RunResult[]): void {
  for (const [index, result] of received.entries()) {
    const kept = stored[index];
    if (kept?.payload.case !== "resultLost") {
      expect(Buffer.from(toBinary(RunResultSchema, result))).toEqual(
        Buffer.from(toBinary(RunResultSchema, kept as RunResult)),
      );
    }
  }
}
