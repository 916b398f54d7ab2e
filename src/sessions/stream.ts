// A session's latest run as events: waits for the run when there is none, follows its log, ends with `done`.

import type { StreamSessionResponse } from "#gen/runnel/v1/session_service_pb.js";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { type TailSource, tail } from "../runlog/tail.ts";
import type { Wakeup } from "../runlog/wakeup.ts";
import { findSession, type SessionRow } from "../storage/session.ts";
import { sessionEvents } from "./session-events.ts";

/** The net under a lost wake-up while a reader waits for the first message. */
const pollMs = 2_000;

export interface SessionStreamDeps extends TailSource {
  readonly wakeup: Wakeup;
  readonly clock: Clock;
}

/** A place in the log of one run. */
export interface RunPosition {
  readonly runId: string;
  readonly sequence: number;
}

/** Yields no empty batch. */
export async function* streamSession(
  deps: SessionStreamDeps,
  request: { session: SessionRow; from: RunPosition | undefined; signal: AbortSignal },
): AsyncGenerator<readonly StreamSessionResponse[]> {
  const { session, signal } = request;
  const from = request.from ?? (await firstRun(deps, session, signal));
  if (from === undefined) {
    return;
  }
  for await (const entries of tail(deps, { runId: from.runId, after: from.sequence, signal })) {
    const events = entries.flatMap((entry) => sessionEvents(entry.result));
    if (events.length > 0) {
      yield events;
    }
  }
}

/** Reads the id of an event: `<run_id>.<sequence>`, or a bare sequence of the latest run. */
export function parsePosition(after: string, latestRunId: string | null): RunPosition | undefined {
  if (after === "") {
    return undefined;
  }
  const match = /^(?:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.)?(\d{1,15})$/.exec(after);
  const runId = match?.[1] ?? latestRunId;
  if (match === null || runId === null) {
    throw new Fault("CURSOR_INVALID", `invalid after: "${after}" is not the id of an event of this session`, {
      violations: [{ field: "after", description: "use the id of an event: <run_id>.<sequence>" }],
    });
  }
  return { runId, sequence: Number(match[2]) };
}

/** The start of the session's run, once there is one. Undefined when the reader leaves before. */
async function firstRun(
  deps: SessionStreamDeps,
  session: SessionRow,
  signal: AbortSignal,
): Promise<RunPosition | undefined> {
  let woken = Promise.withResolvers<void>();
  const unsubscribe = deps.wakeup.subscribe("session", ({ key }) => {
    if (key === session.id) {
      woken.resolve();
    }
  });
  try {
    while (!signal.aborted) {
      const current = await findSession(deps.db, { client: session.client, name: session.name });
      if (current?.id !== session.id) {
        throw new Fault("SESSION_NOT_FOUND", "session not found");
      }
      if (current.latest_run_id !== null) {
        return { runId: current.latest_run_id, sequence: 0 };
      }
      const waited = new AbortController();
      await Promise.race([woken.promise, deps.clock.sleep(pollMs, AbortSignal.any([signal, waited.signal]))]);
      waited.abort();
      woken = Promise.withResolvers<void>();
    }
    return undefined;
  } finally {
    unsubscribe();
  }
}
