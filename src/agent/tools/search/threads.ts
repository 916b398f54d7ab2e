// Where searches run: in a few threads beside the event loop, because a pattern of a model may keep a core busy for long,
// and because files are read several times as fast where nobody minds waiting for the disk.
// S1: at most `threadsMax` searches run at a time; others wait for their turn.
// S2: a search ends with its signal, in the middle of a match as well: its thread is ended.
// S3: an idle thread does not keep the process alive; one is kept, because starting one takes longer than most searches.

import { Worker } from "node:worker_threads";
import type { OutcomeOf, SearchOutcome, SearchRequest } from "./request.ts";

const threadsMax = 4;
const idleMax = 1;
/** For compiled patterns, one file and the answer, many times over. */
const memoryMbMax = 256;

const idle: Worker[] = [];
const waiting: (() => void)[] = [];
let running = 0;

/** Rejects with the signal's reason, and with the thread's error when it died of one. */
export async function search<Request extends SearchRequest>(
  request: Request,
  signal: AbortSignal,
): Promise<OutcomeOf<Request>> {
  await takeTurn(signal);
  try {
    // A thread answers the request that it was sent, and no other meanwhile.
    return (await searchIn(idle.pop() ?? startThread(), request, signal)) as OutcomeOf<Request>;
  } finally {
    passTurn();
  }
}

async function takeTurn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (running < threadsMax) {
    running += 1;
    return;
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const giveUp = (): void => {
    waiting.splice(waiting.indexOf(resolve), 1);
    reject(signal.reason);
  };
  waiting.push(resolve);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function passTurn(): void {
  const next = waiting.shift();
  if (next === undefined) {
    running -= 1;
  } else {
    next();
  }
}

function startThread(): Worker {
  return new Worker(new URL("./thread.ts", import.meta.url), {
    name: "search",
    // It needs none of the process's secrets.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMbMax },
  });
}

async function searchIn(thread: Worker, request: SearchRequest, signal: AbortSignal): Promise<SearchOutcome> {
  thread.ref();
  try {
    const outcome = await ask(thread, request, signal);
    keep(thread);
    return outcome;
  } catch (error) {
    // Only then may the descriptors be closed that it reads from.
    await thread.terminate();
    throw error;
  }
}

async function ask(thread: Worker, request: SearchRequest, signal: AbortSignal): Promise<SearchOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<SearchOutcome>();
  const abort = (): void => reject(signal.reason);
  const exit = (): void => reject(new Error("the thread of the search has ended"));
  signal.addEventListener("abort", abort, { once: true });
  thread.once("message", resolve).once("error", reject).once("exit", exit);
  try {
    signal.throwIfAborted();
    thread.postMessage(request);
    return await promise;
  } finally {
    signal.removeEventListener("abort", abort);
    thread.off("message", resolve).off("error", reject).off("exit", exit);
  }
}

function keep(thread: Worker): void {
  if (idle.length >= idleMax + waiting.length) {
    void thread.terminate();
    return;
  }
  thread.unref();
  idle.push(thread);
}
