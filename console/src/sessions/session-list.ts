// The list of sessions as it is shown: the pages of the service, with what has changed since.

import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { type Session, Session_State } from "#gen/runnel/v1/session_pb.js";
import { msOf } from "../lib/format.ts";
import { causeOf } from "../lib/plain-error.ts";
import { isActive } from "../lib/run-state.ts";

/** Names of states by the parameter of the address. */
export const sessionStates = {
  created: Session_State.CREATED,
  running: Session_State.RUNNING,
  completed: Session_State.COMPLETED,
  failed: Session_State.FAILED,
  cancelled: Session_State.CANCELLED,
} as const;

/** Whether a run waits for the runs before it in its session. */
export function isBehind({ state, waitReason }: Run): boolean {
  return state === Run_State.QUEUED && waitReason === "session";
}

/** What a row shows of the latest run: its state, its last words and the time of its last change. */
export interface LastOf {
  /** Undefined for a session without a run. */
  readonly state: Run_State | undefined;
  readonly words: string;
  readonly changeMs: number | undefined;
}

/** Returns what a session is about now. `latest` is its newest run that has changed, if the page knows one. */
export function lastOf(session: Session, latest: Run | undefined): LastOf {
  if (latest === undefined || latest.runId < session.latestRunId) {
    const { status, output, error, changeTime } = session;
    return { state: runStates[status], words: error === "" ? output : causeOf(error), changeMs: msOf(changeTime) };
  }
  const { state, inputExcerpt, output, error, changeTime } = latest;
  const words = isActive(state) ? inputExcerpt : error === "" ? output : causeOf(error);
  return { state, words, changeMs: msOf(changeTime) };
}

const runStates: Readonly<Partial<Record<Session_State, Run_State>>> = {
  [Session_State.RUNNING]: Run_State.RUNNING,
  [Session_State.COMPLETED]: Run_State.COMPLETED,
  [Session_State.FAILED]: Run_State.FAILED,
  [Session_State.CANCELLED]: Run_State.CANCELLED,
};

/** Returns the newest changed run of each session, without those that wait behind it, and without child runs. */
export function latestRuns(changed: ReadonlyMap<string, Run>): ReadonlyMap<string, Run> {
  const latest = new Map<string, Run>();
  for (const run of changed.values()) {
    const known = latest.get(run.sessionId);
    if (run.parentRunId === "" && !isBehind(run) && (known === undefined || known.runId < run.runId)) {
      latest.set(run.sessionId, run);
    }
  }
  return latest;
}
