// Follows a run to its end across every break of the connection, as docs/resuming.md describes.
//
// F1  A result is handed out once, and only after all results before it.
// F2  A stream that breaks, ends early, skips a result or falls silent is opened again after the last result.
// F3  When the caller stops, no stream stays open.

import { type CallOptions, Code, ConnectError } from "@connectrpc/connect";
import type { RunResult } from "../../../gen/runnel/v1/result_pb.js";
import type {
  GetRunRequest,
  GetRunResponse,
  TailRunRequest,
  TailRunResponse,
} from "../../../gen/runnel/v1/run_service_pb.js";
import { RunnelError } from "./error.ts";
import { isTransient } from "./is-transient.ts";
import { isTerminal } from "./run-stream.ts";
import { Backoff, type CallLimits, Deadline } from "./wait.ts";

/** Limits of `follow`. */
export interface FollowOptions extends CallLimits {
  /** A stream that is silent for longer is opened again. The service sends something every 15 s. 45 s by default. */
  readonly idleTimeoutMs?: number | undefined;
}

/** The calls that `follow` needs. */
export interface LogReader {
  tailRun(request: Pick<TailRunRequest, "runId" | "after">, options: CallOptions): AsyncIterable<TailRunResponse>;
  getRun(request: Pick<GetRunRequest, "runId">, options: CallOptions): Promise<GetRunResponse>;
  /** Returns a function that makes later calls use another connection: that of now may be dead. */
  mark(): () => void;
}

const idleTimeoutDefaultMs = 45_000;

/** Yields the results after `after`, the last of which is the terminal one. Throws a RunnelError. */
export async function* followRun(
  reader: LogReader,
  runId: string,
  after: bigint,
  { idleTimeoutMs = idleTimeoutDefaultMs, ...limits }: FollowOptions,
): AsyncGenerator<RunResult, void> {
  const deadline = new Deadline(limits);
  const backoff = new Backoff();
  let last = after;
  for (;;) {
    deadline.check();
    const attempt = new AbortController();
    const signal = AbortSignal.any([deadline.signal, attempt.signal]);
    let failure: unknown;
    let isNews = false;
    try {
      const leaveConnection = reader.mark();
      const responses = reader.tailRun({ runId, after: last }, { signal });
      for await (const { results } of withoutSilence(responses, idleTimeoutMs, leaveConnection)) {
        for (const result of results) {
          if (result.sequence <= last) {
            continue;
          }
          if (result.sequence > last + 1n) {
            throw new ConnectError(`result ${last + 1n} is missing before ${result.sequence}`, Code.Internal);
          }
          last = result.sequence;
          backoff.reset();
          isNews = true;
          yield result;
          if (isTerminal(result)) {
            return;
          }
          deadline.check();
        }
      }
      if (!isNews && (await isOver(reader, { runId, last, signal, timeoutMs: idleTimeoutMs }))) {
        return;
      }
    } catch (error) {
      deadline.check();
      if (error instanceof RunnelError || !isTransient(error)) {
        throw RunnelError.from(error);
      }
      failure = error;
    } finally {
      attempt.abort();
    }
    await deadline.wait(backoff.next(failure));
  }
}

interface Place {
  readonly runId: string;
  readonly last: bigint;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** A stream that ends without a result is complete only when its caller already had the terminal one. */
async function isOver({ getRun }: LogReader, { runId, last, ...options }: Place): Promise<boolean> {
  try {
    const { run } = await getRun({ runId }, options);
    const end = run?.lastSequence ?? 0n;
    return end > 0n && end <= last;
  } catch (error) {
    // A ticket opens the stream alone. Then only the status counts, which says that everything was sent.
    return !isTransient(error);
  }
}

/** Throws when the next item takes too long. The time that the caller takes for an item does not count. */
async function* withoutSilence<T>(
  items: AsyncIterable<T>,
  limitMs: number,
  onSilence: () => void,
): AsyncGenerator<T, void> {
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const silence = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      onSilence();
      silence.reject(new ConnectError(`the stream was silent for ${limitMs} ms`, Code.Unavailable));
    }, limitMs);
    try {
      const next = await Promise.race([iterator.next(), silence.promise]);
      if (next.done) {
        return;
      }
      clearTimeout(timer);
      yield next.value;
    } finally {
      clearTimeout(timer);
    }
  }
}
