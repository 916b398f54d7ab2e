// How a process reaches each failpoint, and the cells of the matrix: each failpoint with one process or two on one database,
// with readers over gRPC or SSE; killed there, or frozen there for longer than its lease; with clocks that are right, or
// wrong by minutes. A new failpoint needs an entry here that says how to reach it.

import type { RunFailpoint } from "../../../src/platform/base/failpoint.ts";

/**
 * The part of the process that dies.
 *
 * `owner`      accepts a run, works on it, and has its readers
 * `leaver`     an owner that is asked to stop in the middle of the run
 * `successor`  takes over the run of a process that has died before
 * `sender`     an owner without another process that could send the callbacks instead
 * `bystander`  has readers of a run that another process works on
 */
export type Role = "owner" | "leaver" | "successor" | "sender" | "bystander";

export interface Scenario {
  readonly role: Role;
  /** The numbers of passes that kill; a round takes one of them. */
  readonly passes: readonly number[];
  /** The number of words of the answer, and the milliseconds between two; some failpoints need a longer run. */
  readonly words: number;
  readonly gapMs: number;
  /** Another first answer of the provider: a demand to wait parks the run, a refusal fails it. */
  readonly firstAnswer?: "wait" | "refusal";
  /** The caller signs its message, and this is the state of its first signature after the death. */
  readonly firstSignature?: "unused" | "used";
  /** The session has a host for callbacks. */
  readonly isTold?: boolean;
  /** Where the first process dies before the successor reaches its failpoint. */
  readonly firstDeath?: `${RunFailpoint}:${number}`;
}

const plain = { words: 15, gapMs: 20 } as const;
/** Long enough for several renewals of the lease, or for a stop in the middle. */
const long = { words: 60, gapMs: 30 } as const;
/** The third response contains the text; some of it is durable at its second flush. */
const inText = { ...plain, firstDeath: "batch.settled:4" } as const;

export const scenarios: Readonly<Record<RunFailpoint, Scenario>> = {
  "nonce.inserting": { role: "owner", passes: [1], ...plain, firstSignature: "unused" },
  "nonce.inserted": { role: "owner", passes: [1], ...plain, firstSignature: "used" },
  "start.written": { role: "owner", passes: [1], ...plain, isTold: true },
  "start.committed": { role: "owner", passes: [1], ...plain, isTold: true },
  "start.filled": { role: "owner", passes: [1], ...plain },
  "start.answering": { role: "owner", passes: [1], ...plain },
  "claim.committed": { role: "successor", passes: [1], ...inText },
  "run.loaded": { role: "owner", passes: [1], ...plain },
  // A renewal comes every third of a second, from the start of the process on.
  "lease.renewing": { role: "owner", passes: [5, 6, 7], ...long },
  "lease.renewed": { role: "owner", passes: [6, 7, 5], ...long },
  "model.calling": { role: "owner", passes: [2, 1, 3], ...plain },
  "model.first-part": { role: "owner", passes: [3, 1, 2], ...plain },
  "model.finished": { role: "owner", passes: [1, 2, 3], ...plain },
  // A busier machine writes fewer batches, but at least three.
  "batch.inserting": { role: "owner", passes: [2, 1, 3, 4, 5, 6], ...plain },
  "batch.sent": { role: "owner", passes: [3, 1, 2, 4, 5, 6], ...plain },
  "batch.answered": { role: "owner", passes: [3, 1, 2, 4, 5, 6], ...plain },
  "batch.settled": { role: "owner", passes: [3, 1, 2, 4, 5, 6], ...plain },
  "calls.written": { role: "owner", passes: [1, 2], ...plain },
  "outcome.written": { role: "owner", passes: [2, 1, 3, 4], ...plain },
  "answers.written": { role: "owner", passes: [2, 1], ...plain },
  "checkpoint.written": { role: "owner", passes: [3, 1, 2, 4], ...plain },
  "commit.committed": { role: "owner", passes: [2, 1, 3, 4, 5, 6, 7, 8], ...plain },
  "calls.committed": { role: "owner", passes: [2, 1], ...plain },
  "outcome.committed": { role: "owner", passes: [1, 2, 3, 4], ...plain },
  "answers.committed": { role: "owner", passes: [1, 2], ...plain },
  "tool.starting": { role: "owner", passes: [2, 1, 3, 4], ...plain },
  "tool.ended": { role: "owner", passes: [3, 1, 2, 4], ...plain },
  "announce.published": { role: "owner", passes: [3, 1, 2, 4, 5, 6, 7, 8], ...plain },
  "notify.sending": { role: "owner", passes: [4, 3, 5, 6, 7, 8], ...plain },
  "notify.sent": { role: "owner", passes: [6, 3, 4, 5, 7, 8], ...plain },
  "follow.fetched": { role: "bystander", passes: [1, 2, 3], ...plain },
  // Passed once or twice: results that come while the reader is in step go through the sink.
  "tail.yielding": { role: "owner", passes: [1], ...plain },
  "sink.giving": { role: "owner", passes: [2, 1, 3, 4], ...plain },
  "terminal.writing": { role: "owner", passes: [1], ...plain, isTold: true },
  "terminal.written": { role: "owner", passes: [1], ...plain, firstAnswer: "refusal" },
  "terminal.committed": { role: "owner", passes: [1], ...plain, isTold: true },
  "terminal.announced": { role: "owner", passes: [1], ...plain, isTold: true },
  "park.written": { role: "owner", passes: [1], ...plain, firstAnswer: "wait" },
  "park.committed": { role: "owner", passes: [1], ...plain, firstAnswer: "wait" },
  "hand-on.stopping": { role: "leaver", passes: [1], words: 100, gapMs: 30 },
  "hand-on.committed": { role: "leaver", passes: [1], words: 100, gapMs: 30 },
  // Callbacks are for the session's creation, the run's start and its end.
  "callback.written": { role: "owner", passes: [3, 1, 2], ...plain, isTold: true },
  "callback.sent": { role: "sender", passes: [2, 1, 3], ...plain, isTold: true },
  "callback.settled": { role: "sender", passes: [1, 2, 3], ...plain, isTold: true },
  "wake.committed": { role: "successor", passes: [1], ...plain, firstAnswer: "wait", firstDeath: "park.committed:1" },
  "reap.replica-deleted": { role: "successor", passes: [1], ...inText },
  "reap.requeued": { role: "successor", passes: [1], ...inText },
  "reap.committed": { role: "successor", passes: [1], ...inText },
};

export interface Cell {
  readonly failpoint: RunFailpoint;
  readonly passes: number;
  readonly processes: 1 | 2;
  readonly surface: "grpc" | "sse";
  readonly death: "killed" | "frozen";
  /** Undefined when all clocks are right. */
  readonly wrongClock: WrongClock | undefined;
}

export interface WrongClock {
  /** The processes with the wrong clock: those that die in the cell, or all others. */
  readonly of: "dying" | "others";
  readonly minutes: number;
}

export function nameOf({ failpoint, passes, processes, surface, death, wrongClock }: Cell): string {
  const name = `${failpoint}:${passes} ${processes === 1 ? "one process" : "two processes"} ${surface}`;
  return [name, ...(death === "frozen" ? [death] : []), nameOfClock(wrongClock)].join(", ");
}

export function nameOfClock(clock: WrongClock | undefined): string {
  if (clock === undefined) {
    return "clocks right";
  }
  return `clock of the ${clock.of} ${Math.abs(clock.minutes)} min ${clock.minutes < 0 ? "behind" : "ahead"}`;
}

/** A call to a process that is only frozen is answered in the end. */
export function firstSignatureOf({ failpoint, death }: Cell): Scenario["firstSignature"] {
  const { firstSignature } = scenarios[failpoint];
  return death === "frozen" && firstSignature !== undefined ? "unused" : firstSignature;
}

/**
 * All cells of one round. Rounds differ in the pass at which a process dies, and in whose clock is wrong. The number of clocks
 * shares no factor with any number of passes, so in time every kind meets every pass with every clock.
 */
export function productOf(names: readonly RunFailpoint[], round: number): Cell[] {
  return names.flatMap((failpoint, place) => {
    const passes = passesOf(failpoint, round);
    const frozen = { processes: 2, surface: takeTurns(surfaces, round + place), death: "frozen" } as const;
    return [...kinds, frozen].map((kind, index) => {
      return { failpoint, passes, ...kind, wrongClock: takeTurns(wrongClocks, round + index) };
    });
  });
}

/** One cell for each failpoint, with the kinds in turn, and some cells in which a process is frozen. */
export function sampleOf(names: readonly RunFailpoint[]): Cell[] {
  return names.flatMap((failpoint, index) => {
    const passes = passesOf(failpoint, 0);
    const killed = { failpoint, passes, ...takeTurns(kinds, index), wrongClock: takeTurns(wrongClocks, index) };
    const frozen = { ...killed, processes: 2, death: "frozen" } as const;
    return index % placesToFreeze === 0 ? [killed, frozen] : [killed];
  });
}

/** Shares no factor with the numbers of kinds and of clocks, so the frozen cells have all of them in turn. */
const placesToFreeze = 7;

/** Two cores start a few processes at a time; more would only wait for each other. */
const cellsAtOnce = 3;

/** Groups cells that are played side by side, with their names. */
export function inBatches(cells: readonly Cell[]): (readonly [names: string, batch: readonly Cell[]])[] {
  const count = Math.ceil(cells.length / cellsAtOnce);
  return Array.from({ length: count }, (_, index) => {
    const batch = cells.slice(index * cellsAtOnce, (index + 1) * cellsAtOnce);
    return [batch.map(nameOf).join(" · "), batch];
  });
}

const kinds = [
  { processes: 1, surface: "grpc", death: "killed" },
  { processes: 2, surface: "sse", death: "killed" },
  { processes: 2, surface: "grpc", death: "killed" },
  { processes: 1, surface: "sse", death: "killed" },
] as const;

const surfaces = ["grpc", "sse"] as const;

/** Further off than a signature is valid, and than a nonce is kept. */
const wrongClocks = [
  undefined,
  { of: "dying", minutes: 5 },
  { of: "others", minutes: -10 },
  { of: "dying", minutes: -10 },
  { of: "others", minutes: 5 },
] as const satisfies readonly (WrongClock | undefined)[];

function passesOf(failpoint: RunFailpoint, round: number): number {
  return takeTurns(scenarios[failpoint].passes, round);
}

function takeTurns<T>(each: readonly T[], turn: number): T {
  return each[turn % each.length] as T;
}
