// Named places at which a process can be made to crash, so that tests can show what survives. All are off by default; the
// environment enables one.
//
//   RUNNEL_FAILPOINT=lane.sent         kills the process with SIGKILL when it passes that place
//   RUNNEL_FAILPOINT=lane.sent:3       kills it when it passes the place for the third time
//   RUNNEL_FAILPOINT=lane.sent:3:stop  freezes it there with SIGSTOP; SIGCONT resumes it

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
  // A lane writes a batch.
  "lane.inserting",
  "lane.sent",
  "lane.answered",
  "lane.settled",
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

/** The failpoints of signed jobs only: a job is accepted in one transaction before its client gets the answer. */
const jobFailpoints = ["job.written", "job.committed"] as const;

/** The failpoints of approvals only: a decision is written and committed, and an approved call is about to begin. */
const approvalFailpoints = ["approval.decided", "approval.committed", "approval.used"] as const;

/** The failpoints of a runner's runs only: a worker accepts the run; its reports are applied and answered. */
export const runnerFailpoints = [
  "event.written",
  "event.committed",
  "offer.committed",
  "accept.written",
  "accept.committed",
  "report.taken",
  "reported.written",
  "report.applied",
] as const;

/**
 * The failpoints of exchanges only: an exchange starts, takes an inbox, executes its commands one by one, and writes an outbox.
 */
export const exchangeFailpoints = [
  "exchange.written",
  "inbox.written",
  "inbox.committed",
  "command.begun",
  "command.ended",
  "command.settled",
  "exchanged.written",
  "outbox.rendered",
  "outbox.committed",
  "exchange.completed",
] as const;

/** The failpoints of the command that carries an exchange between folders and a service: it writes a file, it takes a file. */
export const folderFailpoints = [
  "beside.written",
  "file.noted",
  "file.answered",
  "file.settled",
  "file.kept",
  "file.moved",
] as const;

/** The failpoints of decision cycles only: a cycle starts, calls its model, and performs its actions one by one. */
export const decisionFailpoints = [
  "cycle.written",
  "cycle.committed",
  "context.read",
  "decided.written",
  "decision.committed",
  "action.begun",
  "action.sent",
  "action.settled",
] as const;

/** The failpoints of an agent's transaction only: it is signed and stored, and it was sent. */
export const txFailpoints = ["tx.begun", "tx.sent"] as const;

/** Every failpoint. `RUNNEL_FAILPOINT` accepts these names only. */
export const allFailpoints = [
  ...failpoints,
  ...jobFailpoints,
  ...approvalFailpoints,
  ...runnerFailpoints,
  ...exchangeFailpoints,
  ...folderFailpoints,
  ...decisionFailpoints,
  ...txFailpoints,
] as const;

/** A failpoint of every run. */
export type RunFailpoint = (typeof failpoints)[number];
/** The name of a failpoint. */
export type Failpoint = (typeof allFailpoints)[number];

interface Armed {
  readonly name: Failpoint;
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
 * Parses `name`, `name:passes` or `name:passes:stop`. Throws on an invalid text, so that a test cannot wait for a crash that
 * never happens.
 */
function readArmed(text: string): Armed | undefined {
  if (text === "") {
    return undefined;
  }
  const [, word = "", passes = "1", stop] = /^([^:]*)(?::([1-9]\d{0,5})(:stop)?)?$/.exec(text) ?? [];
  const name = allFailpoints.find((each) => each === word);
  if (name === undefined) {
    throw new Error(
      `RUNNEL_FAILPOINT is "${text}": use the name of a place, name:passes or name:passes:stop; see src/platform/base/failpoint.ts`,
    );
  }
  return { name, passesLeft: Number(passes), signal: stop === undefined ? "SIGKILL" : "SIGSTOP" };
}

function pass(): void {
  if (armed !== undefined && --armed.passesLeft === 0) {
    process.kill(process.pid, armed.signal);
  }
}
