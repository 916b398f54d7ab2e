// The steps of scripts: what the service does with one attempt of a client to read a log.

import { setTimeout as sleep } from "node:timers/promises";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "#gen/google/rpc/error_details_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import type { Log } from "./log.ts";
import type { Cut } from "./relay.ts";
import type { SendAnswer, Step } from "./scripted-service.ts";

/** Sends what follows the client's cursor, up to a sequence, in batches of two; by default to the end. */
export function upTo({ results }: Log, last = results.length): Step {
  return async function* ({ after }) {
    const wanted = results.slice(after, last);
    for (let index = 0; index < wanted.length; index += 2) {
      yield wanted.slice(index, index + 2);
    }
  };
}

/** Sends these sequences in one batch, without regard to the cursor. */
export function exactly({ results }: Log, ...sequences: readonly number[]): Step {
  return async function* () {
    yield sequences.map((sequence) => results[sequence - 1]).filter((each): each is RunResult => each !== undefined);
  };
}

/** Sends everything from so many results before the cursor. */
export function again({ results }: Log, count: number, last = results.length): Step {
  return async function* ({ after }) {
    yield results.slice(Math.max(0, after - count), last);
  };
}

/** Cuts the connection between two messages. */
export function cut(how: Cut): Step {
  return act((turn) => turn.cut(how));
}

/** Writes the beginning of a message, and cuts the connection. */
export function cutInside(how: Cut): Step {
  return act(async (turn) => {
    // An envelope of 100 bytes without compression, of which four arrive. All protocols have the same envelope.
    await turn.writeRaw(Buffer.from([0, 0, 0, 0, 100, 10, 98, 10, 36]));
    await turn.cut(how);
  });
}

export const freeze: Step = act((turn) => turn.freeze());
export const resetStream: Step = act((turn) => turn.resetStream());

/** Announces the end of the connection, as a proxy does before it ends streams. */
export function sayGoodbye(isAngry: boolean): Step {
  return (turn) => turn.sayGoodbye(isAngry);
}

/** Cuts all connections, and refuses new ones for so long. */
export function goAway(durationMs: number): Step {
  return act((turn) => turn.goAway(durationMs));
}

/** Sends nothing until the client leaves. */
export const silence: Step = act(async () => {});

/** Sends only keep-alives: for so long, or until the client leaves. */
export function keepAlive(everyMs: number, durationMs = Number.POSITIVE_INFINITY): Step {
  return async function* ({ signal }) {
    for (let passedMs = 0; passedMs < durationMs && !signal.aborted; passedMs += everyMs) {
      await sleep(everyMs, undefined, { signal }).catch(() => {});
      yield [];
    }
  };
}

/** Ends the stream with an error. */
export function fail(refusal: Refusal): Step {
  return async ({ settle }) => {
    await settle();
    throw toError(refusal);
  };
}

/** Does something after which this call gets no answer any more. */
function act(what: Parameters<typeof lost>[0]): Step {
  return async (turn) => {
    await what(turn);
    await left(turn.signal);
  };
}

/** An answer of SendMessage that is lost. */
export function lost(what: (turn: Parameters<SendAnswer>[0]) => Promise<void>): SendAnswer {
  return async (turn) => {
    await what(turn);
    await left(turn.signal);
    throw new ConnectError("the client has left", Code.Canceled);
  };
}

async function left(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }
}

/** An error of the service. */
export interface Refusal {
  readonly code: Code;
  readonly reason?: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly violations?: readonly { readonly field: string; readonly description: string }[];
  readonly retryAfterMs?: number;
}

/** Returns the error with its details, as the service sends them. */
export function toError({
  code,
  reason,
  message = "as the script says",
  metadata,
  violations,
  retryAfterMs,
}: Refusal): ConnectError {
  const info = { reason: reason ?? "", domain: "runnel.dev", metadata: { ...metadata } };
  return new ConnectError(message, code, undefined, [
    ...(reason === undefined ? [] : [{ desc: ErrorInfoSchema, value: info }]),
    ...(violations === undefined ? [] : [{ desc: BadRequestSchema, value: { fieldViolations: [...violations] } }]),
    ...(retryAfterMs === undefined
      ? []
      : [{ desc: RetryInfoSchema, value: { retryDelay: durationFromMs(retryAfterMs) } }]),
  ]);
}

/** The service ends a stream by itself: it stops, or the stream is old. */
export const resume: Refusal = { code: Code.Unavailable, reason: "RESUME", message: "call again with after" };

/** The client calls too often. */
export function rateLimited(retryAfterMs: number): Refusal {
  return { code: Code.ResourceExhausted, reason: "RATE_LIMITED", message: "too many calls", retryAfterMs };
}
