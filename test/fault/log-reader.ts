// Readers of a run's log that keep their place: after a cut they continue elsewhere after their last result. They fail at
// once when the next results are not exactly n + 1, n + 2, …

import { toBinary } from "@bufbuild/protobuf";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { expectFolds } from "../ag-ui/verify-folds.ts";
import { query } from "../harness/database.ts";
import { type GrpcClient, reasonOf } from "../harness/grpc.ts";
import { readSse } from "../harness/sse.ts";

/** Reads over gRPC with grpc-js. */
export class LogReader {
  readonly runId: string;
  readonly results: RunResult[] = [];
  /** The reasons why open streams ended, where the service gave one. */
  readonly breaks: (string | undefined)[] = [];

  constructor(runId: string) {
    this.runId = runId;
  }

  /** Continues reading until the stream ends, and returns its gRPC status. */
  async follow(client: GrpcClient): Promise<status> {
    const after = BigInt(this.results.length);
    let hasBegun = false;
    try {
      for await (const { results } of client.stream(RunService.method.tailRun, { runId: this.runId, after })) {
        hasBegun = true;
        for (const result of results) {
          this.#take(result);
        }
      }
      return status.OK;
    } catch (error) {
      if (isServiceError(error)) {
        if (hasBegun) {
          this.breaks.push(reasonOf(error));
        }
        return error.code;
      }
      throw error;
    }
  }

  /** Takes only the next result, and breaks the stream. */
  async takeOne(client: GrpcClient): Promise<void> {
    const after = BigInt(this.results.length);
    for await (const { results } of client.stream(RunService.method.tailRun, { runId: this.runId, after })) {
      const [next] = results;
      if (next === undefined) {
        continue;
      }
      this.#take(next);
      return;
    }
    throw new Error(`nothing came after ${after}`);
  }

  /** The number of results of a type so far. */
  count(type: RunResult["payload"]["case"]): number {
    return this.results.filter(({ payload }) => payload.case === type).length;
  }

  #take(result: RunResult): void {
    expectNext(Number(result.sequence), this.results.length);
    this.results.push(result);
  }
}

/** Reads over SSE, with the id of the last event as browsers send it. */
export class SseLogReader {
  readonly runId: string;
  /** The data of each event, in order. */
  readonly events: string[] = [];

  constructor(runId: string) {
    this.runId = runId;
  }

  /** Continues reading until the stream ends; returns "finished" when the server says so. */
  async follow(url: string): Promise<"finished" | "broken"> {
    const id = this.events.length;
    const headers: Record<string, string> = id === 0 ? {} : { "last-event-id": String(id) };
    try {
      for await (const event of readSse(`${url}/v1/runs/${this.runId}/results:tail`, headers)) {
        if (event.event === "end") {
          return "finished";
        }
        if (event.event === "error") {
          return "broken";
        }
        expectNext(Number(event.id), this.events.length);
        this.events.push(event.data);
      }
    } catch (error) {
      // fetch's error when the connection was lost.
      if (!(error instanceof TypeError)) {
        throw error;
      }
    }
    return "broken";
  }
}

/** The whole log of a run, or the part after a sequence. */
export async function readLog(client: GrpcClient, runId: string, after = 0): Promise<RunResult[]> {
  const read: RunResult[] = [];
  for await (const { results } of client.stream(RunService.method.tailRun, { runId, after: BigInt(after) })) {
    read.push(...results);
  }
  return read;
}

/** Fails unless the results are, byte by byte, those that the database holds of the run, from the first to the last. */
export async function expectStored(databaseUrl: string, runId: string, results: readonly RunResult[]): Promise<void> {
  const stored = await query<{ payload: Buffer }>(
    databaseUrl,
    "select payload from run_result where run_id = $1 order by sequence",
    [runId],
  );
  expect(stored).not.toEqual([]);
  expect(results.map(hexOf)).toEqual(stored.map(({ payload }) => payload.toString("hex")));
  const [run] = await query<{ driver: string }>(databaseUrl, "select driver from run where id = $1", [runId]);
  const end = results.at(-1)?.payload.case;
  if (run?.driver === "llm-loop" && (end === "runCompleted" || end === "runFailed")) {
    await expectFolds(results);
  }
}

/** Returns the results without those that a turn left behind when it began again. */
export function resultsThatCount(results: readonly RunResult[]): RunResult[] {
  let counting: RunResult[] = [];
  for (const result of results) {
    const { payload } = result;
    if (payload.case === "turnRestarted") {
      counting = counting.filter(({ sequence }) => sequence < payload.value.fromSequence);
    }
    counting.push(result);
  }
  return counting;
}

/** The text that a reader shows in the end: the text of a restarted turn is void. */
export function textOf(results: readonly RunResult[]): string {
  let text = "";
  for (const { payload } of results) {
    if (payload.case === "turnRestarted") {
      text = "";
    }
    if (payload.case === "messageDelta") {
      text += payload.value.chunk?.content ?? "";
    }
  }
  return text;
}

function hexOf(result: RunResult): string {
  return Buffer.from(toBinary(RunResultSchema, result)).toString("hex");
}

function expectNext(sequence: number, have: number): void {
  if (sequence !== have + 1) {
    throw new Error(`after ${have} came ${sequence}`);
  }
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "metadata" in error;
}
