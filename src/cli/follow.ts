// Follows a stream to its end across restarts of the service: opens a broken stream again after the last item that was seen.

import { Code, ConnectError } from "@connectrpc/connect";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { systemClock } from "../platform/base/clock.ts";
import { isExplained, type LogClient, type RunClient } from "./connect.ts";
import type { Output } from "./output.ts";

const reconnectDelayMs = 200;
/** How long a command waits for a service that is away. */
export const patienceMs = 60_000;

/** How to follow a stream. */
export interface FollowOptions<T> {
  /** Opens the stream after the last item that was seen. An empty batch shows that the service is there. */
  readonly open: (last: T | undefined) => AsyncIterable<readonly T[]>;
  /** How long to wait for a service that is away. */
  readonly patienceMs: number;
  /** Ends the stream without an error. */
  readonly signal?: AbortSignal;
  /** Called once each time that the stream breaks. */
  readonly onReconnect: (last: T | undefined, why: string) => void;
}

/** Yields the items of a stream. Throws the error when it is permanent, or when the service stays away for too long. */
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

/** Makes a call that may be repeated, again while the service is away. Throws when `signal` aborts. */
export async function callPatiently<T>(call: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const open = async function* () {
    yield [await call()];
  };
  for await (const answer of follow<T>({ open, patienceMs, signal, onReconnect: () => {} })) {
    return answer;
  }
  throw signal.reason;
}

/** Which log to follow, and from where. */
export interface FollowedLog {
  readonly runId: string;
  readonly after: bigint;
  readonly patienceMs: number;
  readonly signal?: AbortSignal;
  readonly onReconnect: (after: bigint, why: string) => void;
}

/** Yields the results of a run until its terminal result. */
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

/** Yields the entries of a run's log, as they are stored. */
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

/** Returns a callback that prints why the stream broke, and where it continues. */
export function noteReconnect(output: Output): (after: bigint, why: string) => void {
  return (after, why) =>
    output.note(`(${why}: going on after ${after})`, { note: "reconnecting", after: String(after), why });
}

/** Returns true for a temporary error: the service asks to be called again, or the connection broke. */
function isPassing(error: unknown): boolean {
  const failure = ConnectError.from(error);
  // A message that is too large for the wire is too large the next time too.
  const isBroken = !isExplained(failure) && failure.code !== Code.ResourceExhausted;
  return failure.code === Code.Unavailable || isBroken;
}
