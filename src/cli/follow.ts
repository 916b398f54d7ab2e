// Follows a stream to its end and survives what happens to the service meanwhile: a broken stream is opened again after the
// last thing that was seen.

import { Code, ConnectError } from "@connectrpc/connect";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { isExplained, type LogClient, type RunClient } from "./connect.ts";
import type { Output } from "./output.ts";

const reconnectDelayMs = 200;
/** How long a command waits for a service that is away. */
export const patienceMs = 60_000;

export interface FollowOptions<T> {
  /** Goes on after the last one that was seen. What comes without any says that the service is there. */
  readonly open: (last: T | undefined) => AsyncIterable<readonly T[]>;
  /** A service that is away for longer is not waited for. */
  readonly patienceMs: number;
  /** Ends it, without a word. */
  readonly signal?: AbortSignal;
  /** Told once each time that the stream breaks. */
  readonly onReconnect: (last: T | undefined, why: string) => void;
}

export async function* follow<T>({ open, patienceMs, signal, onReconnect }: FollowOptions<T>): AsyncGenerator<T> {
  let last: T | undefined;
  let awaySinceMs: number | undefined;
  for (;;) {
    try {
      for await (const batch of open(last)) {
        awaySinceMs = undefined;
        for (const each of batch) {
          last = each;
          yield each;
        }
      }
      return;
    } catch (error) {
      if (signal?.aborted) {
        return;
      }
      const nowMs = systemClock.monotonicMs();
      if (!isPassing(error) || nowMs - (awaySinceMs ?? nowMs) > patienceMs) {
        throw error;
      }
      if (awaySinceMs === undefined) {
        awaySinceMs = nowMs;
        onReconnect(last, ConnectError.from(error).rawMessage);
      }
      await systemClock.sleep(reconnectDelayMs, signal);
    }
  }
}

export interface FollowedLog {
  readonly runId: string;
  readonly after: bigint;
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
  readonly onReconnect: (after: bigint, why: string) => void;
}

export async function* followRun(
  runs: RunClient,
  { runId, after, patienceMs, signal, onReconnect }: FollowedLog,
): AsyncGenerator<RunResult> {
  yield* follow<RunResult>({
    open: async function* (last) {
      for await (const { results } of runs.tailRun(
        { runId, after: last?.sequence ?? after },
        { ...(signal && { signal }) },
      )) {
        yield results;
      }
    },
    patienceMs,
    ...(signal && { signal }),
    onReconnect: (last, why) => onReconnect(last?.sequence ?? after, why),
  });
}

/** One entry of a log, as it is stored. */
export interface StoredEntry {
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

export async function* followEntries(
  log: LogClient,
  { runId, after, patienceMs, onReconnect }: FollowedLog,
): AsyncGenerator<StoredEntry> {
  yield* follow<StoredEntry>({
    open: async function* (last) {
      let sequence = last?.sequence ?? Number(after);
      for await (const { results } of log.tailRun({ runId, after: BigInt(sequence) })) {
        const first = sequence + 1;
        sequence += results.length;
        yield results.map((bytes, index) => ({ sequence: first + index, bytes }));
      }
    },
    patienceMs,
    onReconnect: (last, why) => onReconnect(BigInt(last?.sequence ?? after), why),
  });
}

/** Says it once, and where the stream goes on. */
export function noteReconnect(output: Output): (after: bigint, why: string) => void {
  return (after, why) =>
    output.note(`(${why}: going on after ${after})`, { note: "reconnecting", after: String(after), why });
}

/** What a reader should wait out: the service asks to be called again, or the connection broke. */
function isPassing(error: unknown): boolean {
  const failure = ConnectError.from(error);
  // A message that is too large for the wire is so the next time.
  const isBroken = !isExplained(failure) && failure.code !== Code.ResourceExhausted;
  return failure.code === Code.Unavailable || isBroken;
}
