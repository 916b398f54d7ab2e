// Sessions that programs name. Codex sends its whole history with each request, and the headers `session-id` and `thread-id`: its requests
// are runs of one session of that name, whose transcript is the history. A request that was cut off is sent again, and then follows its run.
//
// N1  A request that the session has already as its latest run starts nothing, unless that run failed.
// N2  A history that differs from the transcript continues in a fork of what both have. The newest fork is the session of the name.

import { create, toBinary } from "@bufbuild/protobuf";
import { type Message, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { SessionMessage } from "#gen/runnel/v1/session_service_pb.js";
import type { Calls } from "../in-process/calls.ts";
import { branchIdOf, findBranch } from "../in-process/named-session.ts";
import { readSessionMessages } from "../in-process/session-messages.ts";

/** The run of a response. */
export interface Started {
  readonly runId: string;
  readonly sessionId: string;
}

/** A session of a name, and the messages that it lacks. */
export interface Place {
  readonly sessionId: string;
  readonly messages: readonly Message[];
  /** Whether the session was made for them. */
  readonly isNew: boolean;
}

/**
 * Returns the run that has this input already, or the session in which it starts. `open` creates a session, and `isBusy` asks for
 * another one than the newest.
 */
export async function findPlace(
  calls: Calls,
  {
    name,
    input,
    isBusy = false,
  }: { readonly name: string; readonly input: readonly Message[]; readonly isBusy?: boolean },
  open: (session: {
    readonly sessionId: string;
    readonly fork?: { readonly sessionId: string; readonly messageCount: number };
  }) => Promise<unknown>,
): Promise<Started | Place> {
  const branch = await findBranch(calls, name);
  if (branch === undefined) {
    const sessionId = branchIdOf(name);
    await open({ sessionId });
    return { sessionId, messages: input, isNew: true };
  }
  const { sessionId, latestRunId } = branch;
  const known = await readSessionMessages(calls, sessionId);
  let common = commonLength(known, input);
  if (common === input.length) {
    if (known[common - 1]?.runId === latestRunId && !(await hasFailed(calls, latestRunId))) {
      return { runId: latestRunId, sessionId };
    }
    common = known.findIndex(({ runId }) => runId === known[common - 1]?.runId);
  }
  if (common === known.length && !isBusy) {
    return { sessionId, messages: input.slice(common), isNew: false };
  }
  const next = branchIdOf(name, branch.number + 1);
  const messageCount = known[common - 1]?.number ?? 0;
  await open({ sessionId: next, ...(messageCount > 0 && { fork: { sessionId, messageCount } }) });
  return { sessionId: next, messages: input.slice(common), isNew: true };
}

async function hasFailed(calls: Calls, runId: string): Promise<boolean> {
  const { run } = await calls.call(RunService.method.getRun, { runId });
  return run?.state === Run_State.FAILED || run?.state === Run_State.CANCELLED;
}

/** Returns the number of messages at the start that are the same. */
function commonLength(known: readonly SessionMessage[], input: readonly Message[]): number {
  const differing = input.findIndex((message, index) => {
    const other = known[index]?.message;
    return other === undefined || print(message) !== print(other);
  });
  return differing === -1 ? input.length : differing;
}

/** Prints what callers send of a message. The state and the citations are the provider's. */
function print({ role, content, toolCalls, toolCallId }: Message): string {
  const said = create(MessageSchema, {
    role,
    ...(content.value !== "" && { content }),
    toolCalls: toolCalls.map(({ id, name, arguments: json }) => ({ id, name, arguments: json })),
    ...(toolCallId !== undefined && { toolCallId }),
  });
  return Buffer.from(toBinary(MessageSchema, said)).toString("base64");
}
