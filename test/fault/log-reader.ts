// Readers of a run's log that keep their place: cut off anywhere, they go on elsewhere after the last result they have.
// They fail at once when what comes is not exactly n + 1, n + 2, …

import { toBinary } from "@bufbuild/protobuf";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { query } from "../harness/database.ts";
import { type GrpcClient, reasonOf } from "../harness/grpc.ts";
import { readSse } from "../harness/sse.ts";

/** Over gRPC, as grpc-js reads. */
export class LogReader {
  readonly runId: string;
  readonly results: RunResult[] = [];
  /** Why streams of it ended that had begun, as far as the service told. */
  readonly breaks: (string | undefined)[] = [];

  constructor(runId: string) {
    this.runId = runId;
  }

  /** Reads on until the stream ends, and tells the gRPC status that it ended with. */
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

  /** Takes the next result alone, and breaks the stream. */
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

  /** How many results of a type have come. */
  count(type: RunResult["payload"]["case"]): number {
    return this.results.filter(({ payload }) => payload.case === type).length;
  }

  #take(result: RunResult): void {
    expectNext(Number(result.sequence), this.results.length);
    this.results.push(result);
  }
}

/** Over SSE, with the id of the last event as browsers send it. */
export class SseLogReader {
  readonly runId: string;
  /** The data of each event, in order. */
  readonly events: string[] = [];

  constructor(runId: string) {
    this.runId = runId;
  }

  /** Reads on until the stream ends; tells whether the server said that it is finished. */
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
      // How fetch tells that the connection was lost.
      if (!(error instanceof TypeError)) {
        throw error;
      }
    }
    return "broken";
  }
}

/** The whole log of a run, or what follows a place in it. */
export async function readLog(client: GrpcClient, runId: string, after = 0): Promise<RunResult[]> {
  const read: RunResult[] = [];
  for await (const { results } of client.stream(RunService.method.tailRun, { runId, after: BigInt(after) })) {
    read.push(...results);
  }
  return read;
}

/** Fails unless the results are, byte by byte, what the database holds of the run, from the first to the last. */
export async function expectStored(databaseUrl: string, runId: string, results: readonly RunResult[]): Promise<void> {
  const stored = await query<{ payload: Buffer }>(
    databaseUrl,
    "select payload from run_result where run_id = $1 order by sequence",
    [runId],
  );
  expect(stored).not.toEqual([]);
  expect(results.map(hexOf)).toEqual(stored.map(({ payload }) => payload.toString("hex")));
}

/** The text that a reader shows in the end: what a lost turn said is void. */
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
