// Named places at which a process can be made to crash, so that tests can show what survives. All are off by default; the
// environment enables one. A protocol has its places in its `failpoints.ts`.
//
//   RUNNEL_FAILPOINT=batch.sent         kills the process with SIGKILL when it passes that place
//   RUNNEL_FAILPOINT=batch.sent:3       kills it when it passes the place for the third time
//   RUNNEL_FAILPOINT=batch.sent:3:stop  freezes it there with SIGSTOP; SIGCONT resumes it

/** The failpoints of every run, in the order in which a run of a session passes them. */
export const failpoints = [
  // A request is admitted.
  "nonce.inserting",
  "nonce.inserted",
  // A run is accepted in one transaction, and the client gets its answer.
  "start.written",
  "start.committed",
  "start.filled",
  "start.answering",
  // A run is taken from the queue and loaded.
  "claim.committed",
  "run.loaded",
  // The lease is renewed.
  "lease.renewing",
  "lease.renewed",
  // The model is called and answers.
  "model.calling",
  "model.first-part",
  "model.finished",
  // A batch writer writes a batch.
  "batch.inserting",
  "batch.sent",
  "batch.answered",
  "batch.settled",
  // A driver's step is written with its effects; `written` is inside the transaction.
  "calls.written",
  "outcome.written",
  "answers.written",
  "checkpoint.written",
  "commit.committed",
  "calls.committed",
  "outcome.committed",
  "answers.committed",
  // A tool runs.
  "tool.starting",
  "tool.ended",
  // Readers of this replica and of others are notified of results and receive them.
  "announce.published",
  "notify.sending",
  "notify.sent",
  "follow.fetched",
  "tail.yielding",
  "sink.giving",
  // A run ends, is parked, or is handed on. A single statement ends a run that completes; a transaction ends the others.
  "terminal.writing",
  "terminal.written",
  "terminal.committed",
  "terminal.announced",
  "park.written",
  "park.committed",
  "hand-on.stopping",
  "hand-on.committed",
  // A status callback: its transition is committed but unsent, the receiver has answered, the answer is recorded.
  "callback.written",
  "callback.sent",
  "callback.settled",
  // A replica takes up the work that others left behind.
  "wake.committed",
  "reap.replica-deleted",
  "reap.requeued",
  "reap.committed",
] as const;

/** The failpoints of approvals only: a decision is written and committed, and an approved call is about to begin. */
const approvalFailpoints = ["approval.decided", "approval.committed", "approval.used"] as const;

/** The failpoints of trees of runs only: child runs are written and committed, and a look at a tree is done but not noted. */
const treeFailpoints = ["children.written", "children.committed", "tree.checked"] as const;

/** The failpoints of the core. */
export const coreFailpoints = [...failpoints, ...approvalFailpoints, ...treeFailpoints] as const;

/** The failpoints of protocols, as keys. Each protocol merges its own into it. */
// biome-ignore lint/suspicious/noEmptyInterface: only protocols have members for it
export interface ProtocolFailpoints {}

/** A failpoint of every run. */
export type RunFailpoint = (typeof failpoints)[number];
/** The name of a failpoint. */
export type Failpoint = (typeof coreFailpoints)[number] | keyof ProtocolFailpoints;

interface Armed {
  readonly name: string;
  /** How many passes are left, including the last one. */
  passesLeft: number;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

const armed = readArmed(process.env.RUNNEL_FAILPOINT ?? "");
const armedName = armed?.name;

/** Marks a failpoint. Costs one comparison when this failpoint is not armed. */
export function failpoint(name: Failpoint): void {
  if (name === armedName) {
    pass();
  }
}

/**
 * Throws when `RUNNEL_FAILPOINT` names none of these places, so that a test cannot wait for a crash that never happens.
 */
export function assertFailpoint(names: readonly string[]): void {
  if (armedName !== undefined && !names.includes(armedName)) {
    throw unknownPlace(armedName);
  }
}

/** Parses `name`, `name:passes` or `name:passes:stop`. Throws on an invalid text. */
function readArmed(text: string): Armed | undefined {
  if (text === "") {
    return undefined;
  }
  const [, name, passes = "1", stop] = /^([^:]+)(?::([1-9]\d{0,5})(:stop)?)?$/.exec(text) ?? [];
  if (name === undefined) {
    throw unknownPlace(text);
  }
  return { name, passesLeft: Number(passes), signal: stop === undefined ? "SIGKILL" : "SIGSTOP" };
}

function unknownPlace(text: string): Error {
  return new Error(
    `RUNNEL_FAILPOINT is "${text}": use the name of a place, name:passes or name:passes:stop; see src/platform/base/failpoint.ts`,
  );
}

function pass(): void {
  if (armed !== undefined && --armed.passesLeft === 0) {
    process.kill(process.pid, armed.signal);
  }
}
