// What a run does beside its messages, as activities: child runs, a handoff, a summary. Clients of 1.0 also get child runs as subagents.

import type {
  ChildRunStarted,
  ContextCompacted,
  HandoffCompleted,
  ToolCallCompleted,
} from "#gen/runnel/v1/result_pb.js";
import { outputOf } from "../in-process/message-text.ts";
import type { AgUiEvent } from "./events.ts";

/** An activity as clients keep it. */
export interface Activity {
  readonly activityType: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** A child run that has not ended, with the id of its activity. */
interface Child {
  readonly started: ChildRunStarted;
  readonly messageId: string;
}

/** The end of a child run: its events, and the content that its activity has from now on. */
export interface ChildEnd {
  readonly messageId: string;
  readonly content: Activity["content"];
  readonly events: readonly AgUiEvent[];
}

const childType = "runnel.child_run";

/** Returns the activity of a child run that works. */
export function childActivity({ toolCallId, toolName, runId, continuesRunId }: ChildRunStarted): Activity {
  const earlier = continuesRunId === "" ? {} : { continues_run_id: continuesRunId };
  const content = { agent: toolName, run_id: runId, tool_call_id: toolCallId, ...earlier, status: "working" };
  return { activityType: childType, content };
}

/** Returns the activity of a handoff. */
export function handoffActivity({ fromAgent, toAgent, model }: HandoffCompleted): Activity {
  return { activityType: "runnel.handoff", content: { from_agent: fromAgent, to_agent: toAgent, model } };
}

/** Returns the activity of a summary. */
export function summaryActivity({ summary, messages, tokensBefore, tokensAfter }: ContextCompacted): Activity {
  const content = { summary, messages, tokens_before: Number(tokensBefore), tokens_after: Number(tokensAfter) };
  return { activityType: "runnel.summary", content };
}

/** The child runs of a run that have not ended. */
export class Children {
  readonly #open = new Map<string, Child>();
  readonly #isV1: boolean;

  constructor(isV1: boolean) {
    this.#isV1 = isV1;
  }

  /** Returns the events with which a child run begins. */
  start(started: ChildRunStarted, messageId: string): AgUiEvent[] {
    const child = { started, messageId };
    this.#open.set(started.toolCallId, child);
    return this.#begin(child);
  }

  /** Returns the events with which a call ends its child run; undefined for a call without one. */
  end({ toolCallId, result, error }: ToolCallCompleted): ChildEnd | undefined {
    const child = this.#open.get(toolCallId);
    return child && (error === undefined ? this.#finish(child, outputOf(result)) : this.#fail(child, error));
  }

  /** Returns how the child runs end that were open when a run ended, or whose activities are void. */
  drop(isDropped: (messageId: string) => boolean): readonly ChildEnd[] {
    const dropped = [...this.#open.values()].filter(({ messageId }) => isDropped(messageId));
    return dropped.map((child) => this.#fail(child, "the run that called it has ended or begun its turn again"));
  }

  /** Returns the events that begin the open ones again, for a client that joins. */
  resume(): AgUiEvent[] {
    return [...this.#open.values()].flatMap((child) => this.#begin(child));
  }

  /** Returns the events that end an AG-UI run while child runs work. */
  suspend(): AgUiEvent[] {
    const outcome = { type: "suspended" };
    return [...this.#open.values()].flatMap(({ started: { runId: subagentRunId } }) =>
      this.#only({ type: "SUBAGENT_FINISHED", subagentRunId, outcome }),
    );
  }

  #finish(child: Child, result: string): ChildEnd {
    return this.#end(child, "completed", { type: "SUBAGENT_FINISHED", result });
  }

  #fail(child: Child, message: string): ChildEnd {
    return this.#end(child, "failed", { type: "SUBAGENT_ERROR", message });
  }

  #end({ started, messageId }: Child, status: string, ended: AgUiEvent): ChildEnd {
    this.#open.delete(started.toolCallId);
    const content = { ...childActivity(started).content, status };
    const patch = [{ op: "replace", path: "/status", value: status }];
    const delta = { type: "ACTIVITY_DELTA", messageId, activityType: childType, patch };
    return { messageId, content, events: [...this.#only({ ...ended, subagentRunId: started.runId }), delta] };
  }

  #begin({ started: { runId: subagentRunId, toolName: name, toolCallId: parentToolCallId } }: Child): AgUiEvent[] {
    return this.#only({ type: "SUBAGENT_STARTED", subagentRunId, name, parentToolCallId });
  }

  /** Clients of 0.0.x fail at these events. */
  #only(event: AgUiEvent): AgUiEvent[] {
    return this.#isV1 ? [event] : [];
  }
}
