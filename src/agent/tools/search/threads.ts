// Runs searches in a few worker threads. A model's pattern may keep a core busy for long, and synchronous reads are several
// times as fast.
//
// S1  At most `threadsMax` searches run at a time, and `clientThreadsMax` of one client; others wait for their turn. So the slow
//     searches of one client leave a thread to the others.
// S2  A search ends with its signal, even in the middle of a match, because its thread is ended.
// S3  An idle thread does not keep the process alive. One is kept, because starting a thread takes longer than most searches.

import { Worker } from "node:worker_threads";
import type { OutcomeOf, SearchOutcome, SearchRequest } from "./request.ts";

const threadsMax = 4;
const clientThreadsMax = threadsMax - 1;
const idleMax = 1;
/** The memory limit of a thread, which fits compiled patterns, one file and the answer many times over. */
const memoryMbMax = 256;

const idle: Worker[] = [];
const waiting: Waiting[] = [];
/** The clients of the running searches, one entry for each search. */
const running: string[] = [];

interface Waiting {
  readonly client: string;
  readonly begin: () => void;
}

/** Runs a search of a client. Rejects with the signal's reason, or with the error of a thread that died. */
export async function search<Request extends SearchRequest>(
  request: Request,
  client: string,
  signal: AbortSignal,
): Promise<OutcomeOf<Request>> {
  await takeTurn(client, signal);
  try {
    // A thread handles only one request at a time, so its answer belongs to this request.
    return (await searchIn(idle.pop() ?? startThread(), request, signal)) as OutcomeOf<Request>;
  } finally {
    running.splice(running.indexOf(client), 1);
    giveTurns();
  }
}

async function takeTurn(client: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const turn = { client, begin: resolve };
  const giveUp = (): void => {
    const position = waiting.indexOf(turn);
    // A turn that was given at the same moment is passed on by the search.
    if (position !== -1) {
      waiting.splice(position, 1);
      reject(signal.reason);
    }
  };
  waiting.push(turn);
  giveTurns();
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}

function giveTurns(): void {
  while (running.length < threadsMax) {
    const next = waiting.find(({ client }) => countRunning(client) < clientThreadsMax);
    if (next === undefined) {
      return;
    }
    waiting.splice(waiting.indexOf(next), 1);
    running.push(next.client);
    next.begin();
  }
}

function countRunning(client: string): number {
  return running.filter((each) => each === client).length;
}

function startThread(): Worker {
  return new Worker(new URL("./thread.ts", import.meta.url), {
    name: "search",
    // The thread needs none of the process's secrets.
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
    // The descriptors that the thread reads may be closed only after its end.
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
