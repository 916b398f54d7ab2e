// Named places at which a process can be made to die, so that tests can show what survives a crash just there. All are
// off unless the environment names one: `RUNNEL_FAILPOINT=lane.sent` kills the process with SIGKILL when it passes that
// place, `lane.sent:3` when it passes it for the third time. `lane.sent:3:stop` freezes it there with SIGSTOP instead, and
// it goes on from there when it gets SIGCONT. The place itself does nothing else.

/** In the order in which a run of a session meets them. */
export const failpoints = [
  // A request is let in.
  "nonce.inserting",
  "nonce.inserted",
  // A run is accepted, in one transaction, and its caller answered.
  "start.written",
  "start.committed",
  "start.filled",
  "start.answering",
  // A run is taken from the queue and loaded.
  "claim.committed",
  "run.loaded",
  // The right to write is kept.
  "lease.renewing",
  "lease.renewed",
  // The model is asked and answers.
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
  // Readers here and elsewhere hear of results and get them.
  "announce.published",
  "notify.sending",
  "notify.sent",
  "follow.fetched",
  "tail.yielding",
  "sink.giving",
  // A run ends, is parked, or is handed on. One that completes is ended by a single statement, others in a transaction.
  "terminal.writing",
  "terminal.written",
  "terminal.committed",
  "terminal.announced",
  "park.written",
  "park.committed",
  "hand-on.stopping",
  "hand-on.committed",
  // Somebody is told of a transition: it is committed and nobody has heard of it, the answer is there, it is noted.
  "callback.written",
  "callback.sent",
  "callback.settled",
  // What others left behind is taken up.
  "wake.committed",
  "reap.replica-deleted",
  "reap.requeued",
  "reap.committed",
] as const;

/** Those by which only a signed job comes: it is accepted, in one transaction, before its caller is answered. */
const jobFailpoints = ["job.written", "job.committed"] as const;

/** Those by which only a run of a runner comes: it is accepted by a worker, whose reports are applied and answered. */
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

/** Those by which only an exchange comes: it is started, takes an inbox, executes its commands one by one, and writes an outbox. */
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

/** Those by which the command comes that carries an exchange between folders and a service: a file is written, a file is taken. */
export const folderFailpoints = [
  "beside.written",
  "file.noted",
  "file.answered",
  "file.settled",
  "file.kept",
  "file.moved",
] as const;

/** Those by which only a decision cycle comes: it is started, asks its model, and does its actions one by one. */
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

/** Those by which only an agent's transaction comes: it is signed and stored, and it was sent. */
export const txFailpoints = ["tx.begun", "tx.sent"] as const;

export const allFailpoints = [
  ...failpoints,
  ...jobFailpoints,
  ...runnerFailpoints,
  ...exchangeFailpoints,
  ...folderFailpoints,
  ...decisionFailpoints,
  ...txFailpoints,
] as const;

/** The places of every run. */
export type RunFailpoint = (typeof failpoints)[number];
export type Failpoint = (typeof allFailpoints)[number];

interface Armed {
  readonly name: Failpoint;
  /** How often it is still to be passed, the last time included. */
  passesLeft: number;
  readonly signal: "SIGKILL" | "SIGSTOP";
}

const armed = readArmed(process.env.RUNNEL_FAILPOINT ?? "");
const armedName = armed?.name;

/** Marks a place. Costs one comparison while the place is not the one that is named. */
export function failpoint(name: Failpoint): void {
  if (name === armedName) {
    pass();
  }
}

/** A name that is none is refused: whoever asks for a crash must not believe that there was one. */
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
