// Live streams: what a reader gets while nothing happens, how each stream ends, and that none leaves anything behind.

import { getEventListeners } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { live } from "../../src/api/live.ts";
import { createManualClock, type ManualClock } from "../harness/manual-clock.ts";

const beatMs = 15_000;
const hourMs = 3_600_000;
const empty = "empty";

test("it opens with an empty message at once, even when the source is silent", async () => {
  const { stream } = openLive(async function* (signal) {
    await aborted(signal);
    yield "never";
  });
  expect(await stream.next()).toEqual({ done: false, value: empty });
  await stream.return(undefined);
});

test("values of the source come through in order, and its end ends the stream", async () => {
  const { stream, ...left } = openLive(async function* () {
    yield* ["a", "b", "c"];
  });
  expect(await Array.fromAsync(stream)).toEqual([empty, "a", "b", "c"]);
  await expectNothingLeft(left);
});

test("every 15 seconds of silence bring an empty message, and a late event is not lost", async () => {
  const late = Promise.withResolvers<string>();
  const { stream, clock } = openLive(async function* () {
    yield await late.promise;
  });
  await stream.next();
  for (const beat of [1, 2, 3]) {
    const next = stream.next();
    await clock.slept(beat);
    clock.advance(beatMs - 1);
    expect(await isSettled(next)).toBe(false);
    clock.advance(1);
    expect(await next).toEqual({ done: false, value: empty });
  }
  late.resolve("late");
  expect(await stream.next()).toEqual({ done: false, value: "late" });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test("a database that is away ends an open stream with RESUME, and any other failure ends it unchanged", async () => {
  for (const [failure, expected] of [
    [new Error("Connection terminated unexpectedly"), { reason: "RESUME", retryAfterMs: 1_000 }],
    [new Error("a defect"), { message: "a defect" }],
  ] as const) {
    const { stream, ...left } = openLive(async function* () {
      yield "a";
      throw failure;
    });
    await stream.next();
    expect(await stream.next()).toEqual({ done: false, value: "a" });
    await expect(stream.next()).rejects.toMatchObject(expected);
    await expectNothingLeft(left);
  }
});

test("at the age of one hour it ends with RESUME, not before", async () => {
  const { stream, clock, ...left } = openLive(waitForAbort);
  await stream.next();
  const last = stream.next();
  clock.advance(hourMs - 1);
  expect(await last).toEqual({ done: false, value: empty });
  const end = stream.next();
  await clock.slept(2);
  clock.advance(beatMs);
  await expect(end).rejects.toMatchObject({ reason: "RESUME" });
  await expectNothingLeft(left);
});

test("a drain ends it with RESUME at once", async () => {
  const { stream, ...left } = openLive(waitForAbort);
  await stream.next();
  const end = stream.next();
  left.drain.abort();
  await expect(end).rejects.toMatchObject({ reason: "RESUME" });
  await expectNothingLeft(left);
});

test("a stream that opens on a draining replica ends with RESUME at once", async () => {
  const { stream, drain } = openLive(waitForAbort);
  drain.abort();
  await stream.next();
  await expect(stream.next()).rejects.toMatchObject({ reason: "RESUME" });
});

test("a drain ends the stream before pending values: the reader resumes after the last one it got", async () => {
  const { stream, drain } = openLive(async function* () {
    yield* ["a", "b"];
  });
  await stream.next();
  expect(await stream.next()).toEqual({ done: false, value: "a" });
  drain.abort();
  await expect(stream.next()).rejects.toMatchObject({ reason: "RESUME" });
});

test("a reader that leaves ends the stream with its reason, never with OK", async () => {
  const { stream, ...left } = openLive(waitForAbort);
  await stream.next();
  const end = stream.next();
  const reason = new Error("the deadline is over");
  left.reader.abort(reason);
  await expect(end).rejects.toBe(reason);
  await expectNothingLeft(left);
});

test("a reader that left before the stream opened is not followed", async () => {
  const { stream, reader } = openLive(waitForAbort);
  const reason = new Error("gone");
  reader.abort(reason);
  await stream.next();
  await expect(stream.next()).rejects.toBe(reason);
});

test("an error of the source ends the stream", async () => {
  const failure = new Error("no database");
  const { stream, ...left } = openLive(async function* () {
    yield "a";
    throw failure;
  });
  await stream.next();
  expect(await stream.next()).toEqual({ done: false, value: "a" });
  await expect(stream.next()).rejects.toBe(failure);
  await expectNothingLeft(left);
});

test("a reader that stops between two messages frees the source", async () => {
  const { stream, ...left } = openLive(async function* (signal) {
    yield "a";
    yield* waitForAbort(signal);
  });
  await stream.next();
  await stream.next();
  await stream.return(undefined);
  await expectNothingLeft(left);
});

// The stream notices the reader's end before it waits for the source's next event. The failure of the source after its signal
// aborted concerns no reader; without a handler it would end the process.
test("a failure of the source after its reader left is ignored", async () => {
  const unheard: unknown[] = [];
  const onUnheard = (error: unknown): void => {
    unheard.push(error);
  };
  process.on("unhandledRejection", onUnheard);
  const { stream, reader, sourceEnded } = openLive(async function* (signal) {
    yield "a";
    await aborted(signal);
    throw new Error("a query was cut off");
  });
  await stream.next();
  await stream.next();
  reader.abort(new Error("gone"));
  await expect(stream.next()).rejects.toThrow("gone");
  await sourceEnded;
  await nextTurn();
  process.off("unhandledRejection", onUnheard);
  expect(unheard).toEqual([]);
});

test("200,000 messages of an open stream leave memory and listeners where they were", async () => {
  const messages = 200_000;
  const { stream, reader, drain } = openLive(async function* (signal) {
    for (let n = 0; n < messages; n++) {
      yield `message ${n}`;
    }
    yield* waitForAbort(signal);
  });
  await take(stream, messages / 10);
  const listenersBefore = countListeners(reader, drain);
  const heapBefore = heapUsed();
  await take(stream, messages - messages / 10);
  // A reaction or listener kept for each message would need ten times that.
  expect(heapUsed() - heapBefore).toBeLessThan(3_000_000);
  expect(countListeners(reader, drain)).toEqual(listenersBefore);
  await stream.return(undefined);
});

interface Opened {
  readonly stream: AsyncGenerator<string>;
  readonly clock: ManualClock;
  readonly reader: AbortController;
  readonly drain: AbortController;
  /** The signal that the source got. */
  readonly source: { signal?: AbortSignal };
  /** Resolves when the source's generator has ended, properly or not. */
  readonly sourceEnded: Promise<void>;
}

function openLive(source: (signal: AbortSignal) => AsyncGenerator<string>): Opened {
  const clock = createManualClock();
  const [reader, drain] = [new AbortController(), new AbortController()];
  const ended = Promise.withResolvers<void>();
  const got: Opened["source"] = {};
  async function* open(signal: AbortSignal): AsyncGenerator<string> {
    got.signal = signal;
    try {
      yield* source(signal);
    } finally {
      ended.resolve();
    }
  }
  const stream = live({ open, empty: () => empty, clock, reader: reader.signal, drain: drain.signal });
  return { stream, clock, reader, drain, source: got, sourceEnded: ended.promise };
}

async function* waitForAbort(signal: AbortSignal): AsyncGenerator<string> {
  await aborted(signal);
  yield "too late";
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** Checks that the source was aborted and has ended, and that nothing listens to signals that outlive the stream. */
async function expectNothingLeft({
  source,
  sourceEnded,
  reader,
  drain,
}: Omit<Opened, "stream" | "clock">): Promise<void> {
  expect(source.signal?.aborted).toBe(true);
  await sourceEnded;
  expect(countListeners(reader, drain)).toEqual([0, 0]);
}

function countListeners(...controllers: readonly AbortController[]): number[] {
  return controllers.map(({ signal }) => getEventListeners(signal, "abort").length);
}

async function take(stream: AsyncGenerator<string>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    await stream.next();
  }
}

/** Resolves after everything that can happen without time passing. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  promise.then(settle, settle);
  await nextTurn();
  return settled;
}

function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  collect();
  return process.memoryUsage().heapUsed;
}
