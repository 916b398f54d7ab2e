// Repeats a run with another model or system prompt: in a session of its own, with the messages that the run had before it.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import type { CreateSessionRequestSchema } from "#gen/runnel/v1/session_service_pb.js";
import { transport } from "../api/transport.ts";
import { membersOf, type Plan, sessionOf, sessions } from "./plan.ts";

/** What a person thinks of a repetition. */
export interface Verdict {
  readonly mark: "" | "good" | "same" | "worse";
  readonly note: string;
}

/** A repetition that has started. */
export interface Repetition {
  readonly runId: string;
  readonly verdict: Verdict;
}

export const runs = createClient(RunService, transport);

/** Returns the repetition of the run at an index of the plan. Starts it unless it has been started before. */
export async function repeat(plan: Plan, index: number): Promise<Repetition> {
  const source = plan.sources[index] ?? "";
  const sessionId = sessionOf(plan.id, index);
  const known = (await runs.listRuns({ sessionId, pageSize: 1 })).runs[0];
  if (known !== undefined) {
    const { session } = await sessions.getSession({ sessionId });
    return { runId: known.runId, verdict: verdictOf(membersOf(session)) };
  }
  const { messages, agent = create(AgentSchema) } = await runs.getRunInput({ runId: source });
  const annotations = annotationsOf(plan, index);
  await createSession({
    sessionId,
    agent: { ...agent, model: plan.model || agent.model, systemPrompt: plan.systemPrompt || agent.systemPrompt },
    annotations,
    requestId: sessionId,
    ...(await forkBefore(source)),
  });
  const { runId } = await sessions.sendMessage({ sessionId, messages, annotations, requestId: sessionId });
  return { runId, verdict: verdictOf({}) };
}

/** Keeps what a person thinks of a repetition. */
export async function keepVerdict(plan: Plan, index: number, verdict: Verdict): Promise<void> {
  const annotations = annotationsOf(plan, index, verdict);
  await sessions.updateSession({ sessionId: sessionOf(plan.id, index), annotations });
}

/** The session may be there since a page that was left before it sent the message. */
async function createSession(request: MessageInitShape<typeof CreateSessionRequestSchema>): Promise<void> {
  try {
    await sessions.createSession(request);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.AlreadyExists) {
      throw error;
    }
  }
}

function annotationsOf({ id, sources }: Plan, index: number, verdict?: Verdict): string {
  return JSON.stringify({ evaluation: id, source: sources[index], ...verdict });
}

function verdictOf({ mark, note }: Readonly<Record<string, unknown>>): Verdict {
  const known = mark === "good" || mark === "same" || mark === "worse";
  return { mark: known ? mark : "", note: typeof note === "string" ? note : "" };
}

/** Returns the place before a run in its session; nothing for the first run of a session. */
async function forkBefore(runId: string) {
  const { run } = await runs.getRun({ runId });
  const sessionId = run?.sessionId ?? "";
  for (let pageToken = ""; ; ) {
    const page = await sessions.listMessages({ sessionId, pageSize: 250, pageToken });
    const first = page.messages.find((message) => message.runId === runId);
    if (first !== undefined) {
      return first.number > 1 ? { fork: { sessionId, messageCount: first.number - 1 } } : {};
    }
    pageToken = page.nextPageToken;
    if (pageToken === "") {
      throw new Error(`the session of run ${runId} no longer has its messages, so the run cannot be repeated`);
    }
  }
}
