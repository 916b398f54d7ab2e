// An evaluation: the runs that are repeated, and the settings of their repetitions. It lives in the annotations of sessions, so any
// browser with the key of its client can continue it.
//
// E1  The session `evaluation-<id>` has the plan, and no run. The session `evaluation-<id>-<n>` has the repetition of the nth run.
// E2  Ids follow from the id of the evaluation, so a step that is repeated after a broken call does not start a second run.

import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { Session } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { transport } from "../api/transport.ts";

/** As many as a person can read and mark. */
export const runsMax = 50;
/** What annotations hold beside the ids of the runs. */
export const promptBytesMax = 10_000;

export const sessions = createClient(SessionService, transport);

export interface Plan {
  readonly id: string;
  /** The ids of the runs that are repeated. */
  readonly sources: readonly string[];
  /** The model of the repetitions; empty keeps that of each run. */
  readonly model: string;
  /** The system prompt of the repetitions; empty keeps that of each run. */
  readonly systemPrompt: string;
}

/** Keeps a new plan. */
export async function keepPlan({ id, sources, model, systemPrompt }: Plan): Promise<void> {
  const sessionId = sessionOf(id);
  const annotations = JSON.stringify({ evaluation: id, sources, model, system_prompt: systemPrompt });
  await sessions.createSession({ sessionId, agent: { name: "evaluation" }, annotations, requestId: sessionId });
}

/** Returns the plan of an evaluation. Throws NOT_FOUND for an unknown id. */
export async function readPlan(id: string, signal: AbortSignal): Promise<Plan> {
  const { session } = await sessions.getSession({ sessionId: sessionOf(id) }, { signal });
  const { sources, model, system_prompt } = membersOf(session);
  if (!Array.isArray(sources)) {
    throw new ConnectError(`the session ${sessionOf(id)} has no evaluation`, Code.NotFound);
  }
  return {
    id,
    sources: sources.map(String).slice(0, runsMax),
    model: String(model ?? ""),
    systemPrompt: String(system_prompt ?? ""),
  };
}

/** Returns the id of the session with the plan, or of the one with the repetition of a run. */
export function sessionOf(id: string, index?: number): string {
  return index === undefined ? `evaluation-${id}` : `evaluation-${id}-${index + 1}`;
}

/** Returns the members of a session's annotations. */
export function membersOf(session: Session | undefined): Readonly<Record<string, unknown>> {
  return JSON.parse(session?.annotations || "{}") as Readonly<Record<string, unknown>>;
}
