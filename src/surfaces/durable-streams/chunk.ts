// The messages of a stream: what a log has by now, and what comes next.

import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { over } from "../../platform/base/clock.ts";
import { printMessage } from "../../platform/base/json/print.ts";
import { terminalCases } from "../../platform/base/result-types.ts";
import type { Calls } from "../in-process/calls.ts";
import type { Visit } from "../in-process/visit.ts";

const { getRun, tailRun } = RunService.method;

/** Where the stream ends now. */
export interface Tail {
  readonly last: number;
  readonly isClosed: boolean;
}

/** Returns where the log of a run ends by now. */
export async function findTail(calls: Calls, runId: string): Promise<Tail> {
  const { run, logSequence } = await calls.call(getRun, { runId });
  return { last: Number(logSequence), isClosed: run?.endTime !== undefined };
}

/** The holder of a ticket may follow a run, and not read it. Its end is known when the last message comes. */
export const unknownTail: Tail = { last: Number.POSITIVE_INFINITY, isClosed: false };

/** Messages of a stream, and where they end. */
export interface Chunk {
  readonly messages: readonly string[];
  readonly next: number;
  readonly isUpToDate: boolean;
  readonly isClosed: boolean;
}

const chunkMessagesMax = 1_000;
const chunkBytesMax = 1_048_576;

/** Reads the messages after a position that exist by now, up to the limits of a chunk. */
export async function readChunk(calls: Calls, runId: string, after: number, { last, isClosed }: Tail): Promise<Chunk> {
  const messages: string[] = [];
  let next = after;
  let bytes = 0;
  if (after < last) {
    const enough = new AbortController();
    const signal = AbortSignal.any([calls.signal, enough.signal]);
    read: for await (const { results } of calls.follow(tailRun, { runId, after: BigInt(after) }, signal)) {
      for (const result of results) {
        const message = printMessage(RunResultSchema, result);
        messages.push(message);
        next = Number(result.sequence);
        bytes += message.length;
        if (next >= last || messages.length >= chunkMessagesMax || bytes >= chunkBytesMax) {
          break read;
        }
      }
    }
    enough.abort(over);
  }
  return { messages, next, isUpToDate: next >= last, isClosed: isClosed && next >= last };
}

/** Programs give a call up after 30 s and more, as proxies do. */
const pollMs = 25_000;

/** Waits for messages after the end of the stream, until the time of a poll is over. */
export async function awaitMessages(
  { calls, clock }: Pick<Visit, "calls" | "clock">,
  runId: string,
  after: number,
): Promise<Chunk> {
  const timeout = new AbortController();
  const signal = AbortSignal.any([calls.signal, timeout.signal]);
  void clock.sleep(pollMs, signal).then(() => timeout.abort(over));
  try {
    for await (const { results } of calls.follow(tailRun, { runId, after: BigInt(after) }, signal)) {
      if (results.length > 0) {
        return chunkOf(results);
      }
    }
  } catch (error) {
    if (!timeout.signal.aborted) {
      throw error;
    }
  } finally {
    timeout.abort(over);
  }
  return { messages: [], next: after, isUpToDate: true, isClosed: false };
}

/** Returns a batch of a log that is followed. */
export function chunkOf(results: readonly RunResult[]): Chunk {
  const last = results.at(-1);
  return {
    messages: results.map((result) => printMessage(RunResultSchema, result)),
    next: Number(last?.sequence),
    isUpToDate: true,
    isClosed: terminalCases.has(last?.payload.case ?? ""),
  };
}
