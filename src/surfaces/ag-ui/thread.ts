// A thread is a session. An edited history continues in a fork of it: the branches of a thread are numbered, and the newest one
// is the thread's.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { SessionMessage } from "#gen/runnel/v1/session_service_pb.js";
import type { Calls } from "../in-process/calls.ts";
import { RunRefused } from "../in-process/run-refused.ts";
import { readSessionMessages } from "../in-process/session-messages.ts";
import { type Content, contentOf, hasContent } from "./content.ts";
import { type AgUiMessage, hexOf, ownIds } from "./events.ts";
import type { SentMessage } from "./input.ts";

const runs = RunService.method;

/** What a run of this surface keeps with it. */
export interface RunNote {
  readonly thread_id: string;
  readonly run_id: string;
  readonly parent_run_id?: string;
  /** The preset that the client named, and the agent that then had the conversation. Undefined in runs of older versions. */
  readonly preset?: string;
  readonly agent?: string;
  /** True when that agent had taken over from the preset. */
  readonly is_handed_over?: boolean;
  /** Where the agent's own prompt begins, after what the client tells it. */
  readonly prompt_at?: number;
}

/** Returns the annotations of a run. */
export function annotate(note: RunNote): string {
  return JSON.stringify({ ag_ui: note });
}

/** A run of a thread. */
export interface ThreadRun {
  readonly runId: string;
  readonly note: RunNote | undefined;
  /** The number of messages that started it. */
  readonly inputLength: number;
}

/** Returns the newest runs of a branch, newest first. */
export async function listRuns(calls: Calls, sessionId: string, count: number): Promise<ThreadRun[]> {
  const page = await calls.call(runs.listRuns, { sessionId, pageSize: count });
  const found: ThreadRun[] = [];
  for (const { runId } of page.runs) {
    found.push(await readRun(calls, runId));
  }
  return found;
}

/** Returns a run with its note. */
export async function readRun(calls: Calls, runId: string): Promise<ThreadRun> {
  const { annotations, messages } = await calls.call(runs.getRunInput, { runId });
  const { ag_ui: note }: { ag_ui?: RunNote } = annotations === "" ? {} : JSON.parse(annotations);
  return { runId, note, inputLength: messages.length };
}

/** Returns the messages of a branch, without those of the system. */
export async function readTranscript(calls: Calls, sessionId: string): Promise<SessionMessage[]> {
  const all = await readSessionMessages(calls, sessionId);
  return all.filter(({ message }) => message?.role !== "system" && message?.role !== "developer");
}

/** Where the client's messages leave the thread's, and what comes after. */
export interface NewInput {
  /** The number of the last common message; undefined when nothing of the thread is left out. */
  readonly forkAt: number | undefined;
  readonly messages: MessageInitShape<typeof MessageSchema>[];
}

/**
 * Compares the client's messages with the thread's. Only those after the last common one are new.
 * @throws RunRefused when nothing is new, or when the new messages are not of a user or a tool.
 */
export function findNewInput(known: readonly SessionMessage[], sent: readonly SentMessage[]): NewInput {
  let common = 0;
  let next = 0;
  for (const message of sent) {
    const expected = known[common];
    if (expected !== undefined && isSame(expected, message)) {
      common += 1;
    } else if (!ownIds.test(message.id)) {
      break;
    }
    // A message of ours that the thread does not have is the rest of a run that failed: it changes nothing.
    next += 1;
  }
  const fresh = sent.slice(next).filter(({ id, role }) => role !== "assistant" || !ownIds.test(id));
  if (fresh.length > 0) {
    return {
      forkAt: common === known.length ? undefined : numberBefore(known, common),
      messages: fresh.map(toMessage),
    };
  }
  // The client has dropped the answer to its last message: it wants another one.
  const last = sent.at(-1);
  const at = known.findLastIndex((each) => each.message?.role === "user");
  if (last?.role !== "user" || common === known.length || at !== common - 1) {
    throw new RunRefused("no_input", "the messages contain nothing that the thread does not have");
  }
  return { forkAt: numberBefore(known, at), messages: [toMessage(last)] };
}

function numberBefore(known: readonly SessionMessage[], index: number): number {
  return known[index - 1]?.number ?? 0;
}

function isSame({ message, runId, number }: SessionMessage, sent: SentMessage): boolean {
  if (message?.role !== sent.role) {
    return false;
  }
  switch (message.role) {
    case "assistant":
      return sent.id.startsWith(`msg_${hexOf(runId)}_`) || sent.id === message.id;
    case "tool":
      return sent.toolCallId === message.toolCallId;
    default:
      return sent.id === (message.id ?? `usr_${number}`) && hasContent(message, sent.content);
  }
}

function toMessage({ id, role, content = noText, toolCalls = [], toolCallId }: SentMessage) {
  return {
    id,
    role,
    content,
    toolCalls: toolCalls.map((call) => ({
      id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
    })),
    ...(toolCallId !== undefined && { toolCallId }),
  };
}

const noText: Content = { case: "text", value: "" };

/** Returns a message of the thread as clients keep it. */
export function fromMessage({ message, runId, number }: SessionMessage): AgUiMessage[] {
  if (message === undefined) {
    return [];
  }
  const content = contentOf(message);
  const { role, toolCallId = "", toolCalls } = message;
  switch (role) {
    case "assistant": {
      const calls = toolCalls.map(({ id, name, arguments: json }) => toolCallOf(id, name, json));
      const id = message.id ?? `msg_${hexOf(runId)}_t${number}`;
      return [{ id, role, ...(content !== "" && { content }), ...(calls.length > 0 && { toolCalls: calls }) }];
    }
    case "tool":
      return [{ id: message.id ?? `res_${toolCallId}`, role, content, toolCallId }];
    default:
      return [{ id: message.id ?? `usr_${number}`, role, content }];
  }
}

/** Returns a call as clients keep it. */
export function toolCallOf(id: string, name: string, json: string) {
  return { id, type: "function", function: { name, arguments: json } } as const;
}
