// Folds the log of a run into updates of an ACP session. Pure: the same log gives the same updates.
//
// A1  Each piece of text and of reasoning reaches the editor once.
// A2  Each call of a tool has one end. A call of a turn that began again ends as failed.

import type { ContentBlock, SessionUpdate, PlanEntry as ShownEntry, StopReason } from "@agentclientprotocol/sdk";
import {
  type ArtifactCreated,
  ModelError_Cause,
  type PlanEntry,
  PlanEntry_Priority,
  PlanEntry_Status,
  type RunFailed,
  type RunResult,
  type ToolCallStarted,
} from "#gen/runnel/v1/result_pb.js";
import { textOf } from "../show.ts";
import { Spoken } from "./spoken.ts";
import { endOfCall, textContent, viewOfCall } from "./tool-calls.ts";

/** How a run ended: with the reason of its stop, or with its failure. */
export type RunEnd = { readonly stopReason: StopReason } | { readonly failure: RunFailed };

/** Folds one log. Give it each result once, in order. */
export class RunFold {
  readonly runId: string;
  readonly #directory: string | undefined;
  readonly #text: Spoken;
  readonly #thought: Spoken;
  /** The sequences of the calls that have no end yet, by their ids. */
  readonly #calls = new Map<string, bigint>();
  #turn = 0;
  #last = "";
  /** The end of the run; undefined while it is active. */
  end: RunEnd | undefined;

  /** `directory` is the absolute path in which the run's tools work; undefined when it is not the editor's. */
  constructor(runId: string, directory: string | undefined) {
    this.runId = runId;
    this.#directory = directory;
    this.#text = new Spoken("agent_message_chunk", runId);
    this.#thought = new Spoken("agent_thought_chunk", runId);
  }

  /** Returns the updates of the next result. */
  take({ sequence, payload }: RunResult): SessionUpdate[] {
    switch (payload.case) {
      case "turnStarted":
        this.#begin(payload.value.turn);
        return [];
      case "turnRestarted":
        return this.#restart(payload.value.fromSequence);
      case "reasoningDelta":
        return this.#thought.say(payload.value.content);
      case "messageDelta": {
        const { content = "", replacesText = false } = payload.value.chunk ?? {};
        return replacesText ? this.#text.replace(content) : this.#text.say(content);
      }
      case "messageCompleted":
        this.#last = textOf(payload.value.message);
        return this.#text.complete(this.#last);
      case "toolCallStarted":
        this.#calls.set(payload.value.toolCallId, sequence);
        return [this.#call(payload.value)];
      case "toolCallProgress": {
        const { toolCallId, message } = payload.value;
        return message === "" ? [] : [this.#update(toolCallId, { content: [textContent(message)] })];
      }
      case "childRunStarted": {
        const { toolCallId, runId } = payload.value;
        const content = [textContent(`Works as run ${runId}.`)];
        return [this.#update(toolCallId, { content, _meta: { "runnel.dev/run_id": runId } })];
      }
      case "toolCallCompleted":
        this.#calls.delete(payload.value.toolCallId);
        return [this.#update(payload.value.toolCallId, endOfCall(payload.value))];
      case "planUpdated":
        return [{ sessionUpdate: "plan", entries: payload.value.entries.map(showEntry) }];
      case "approvalRequested":
        return [this.#update(payload.value.toolCallId, { status: "pending" })];
      case "artifactCreated":
        return showArtifact(payload.value);
      case "runCompleted": {
        const { message, finishReason } = payload.value;
        const text = textOf(message);
        this.end = { stopReason: stopReasons.get(finishReason) ?? "end_turn" };
        return text === this.#last ? [] : this.#text.complete(text);
      }
      case "runFailed":
        this.end = endOfFailure(payload.value);
        return [];
      default:
        return [];
    }
  }

  /** Returns the id that a call has in its session: in the log it is unique in its run. */
  idOf(toolCallId: string): string {
    return `${this.runId}.${toolCallId}`;
  }

  /** A turn that began again may start with its number. */
  #begin(turn: number): void {
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#text.begin();
      this.#thought.begin();
    }
  }

  #restart(fromSequence: bigint): SessionUpdate[] {
    this.#text.restart();
    this.#thought.restart();
    const open = [...this.#calls].filter(([, sequence]) => sequence >= fromSequence);
    return open.map(([toolCallId]) => {
      this.#calls.delete(toolCallId);
      return this.#update(toolCallId, { status: "failed", content: [textContent("the turn began again")] });
    });
  }

  #call({ toolCallId, toolName, parameters }: ToolCallStarted): SessionUpdate {
    const view = viewOfCall(toolName, parameters, this.#directory);
    return {
      sessionUpdate: "tool_call",
      toolCallId: this.idOf(toolCallId),
      name: toolName,
      status: "in_progress",
      ...view,
    };
  }

  #update(toolCallId: string, changes: Partial<Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }>>) {
    return { ...changes, sessionUpdate: "tool_call_update", toolCallId: this.idOf(toolCallId) } as const;
  }
}

/** Returns the results that are not void: a reader that has seen none of them needs no void ones. */
export function dropVoid(results: readonly RunResult[]): RunResult[] {
  const kept: RunResult[] = [];
  for (const result of results) {
    const { payload } = result;
    if (payload.case === "turnRestarted") {
      const from = kept.findIndex(({ sequence }) => sequence >= payload.value.fromSequence);
      kept.splice(from === -1 ? kept.length : from);
    } else {
      kept.push(result);
    }
  }
  return kept;
}

const stopReasons: ReadonlyMap<string, StopReason> = new Map([
  ["length", "max_tokens"],
  ["content-filter", "refusal"],
]);

function endOfFailure(failure: RunFailed): RunEnd {
  if (failure.code === "cancelled") {
    return { stopReason: "cancelled" };
  }
  if (failure.modelError?.cause === ModelError_Cause.CONTENT_FILTER) {
    return { stopReason: "refusal" };
  }
  // The failure has no code of its own: these are the words of the Agent Runner document.
  const isOutOfTurns = failure.error.startsWith("agent reached maximum turn limit");
  return isOutOfTurns ? { stopReason: "max_turn_requests" } : { failure };
}

/** An editor wants a status and a priority of every step. */
function showEntry({ text: content, status, priority }: PlanEntry): ShownEntry {
  return {
    content,
    status: statuses[status] ?? "pending",
    priority: priorities[priority] ?? "medium",
  };
}

const statuses: Readonly<Partial<Record<PlanEntry_Status, ShownEntry["status"]>>> = {
  [PlanEntry_Status.IN_PROGRESS]: "in_progress",
  [PlanEntry_Status.COMPLETED]: "completed",
};

const priorities: Readonly<Partial<Record<PlanEntry_Priority, ShownEntry["priority"]>>> = {
  [PlanEntry_Priority.HIGH]: "high",
  [PlanEntry_Priority.LOW]: "low",
};

function showArtifact({ mimeType = "", contentBase64: data = "" }: ArtifactCreated): SessionUpdate[] {
  const [type] = mimeType.split("/", 1);
  if (data === "" || (type !== "image" && type !== "audio")) {
    return [];
  }
  const content: ContentBlock = { type, data, mimeType };
  return [{ sessionUpdate: "agent_message_chunk", content }];
}
