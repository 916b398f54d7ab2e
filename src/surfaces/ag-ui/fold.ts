// Folds the log of a run into AG-UI events. Pure: ids and order are the same for every reader.
//
// F1  RUN_STARTED comes first. RUN_FINISHED comes when everything that was opened is closed.
// F2  A turn that began again closes its open message; a snapshot of the messages without the void ones follows.
// F3  Text after a call of the same turn is another message: a provider runs such calls while its model speaks.
// F4  A run that waits for approvals ends with an interrupt, and its next result begins another AG-UI run.
// F5  Each child run that was begun has an end before that of the AG-UI run. One that still works is suspended, and begins again.

import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type ApprovalRequested,
  type ModelError_Cause,
  ModelError_CauseSchema,
  type PlanEntry,
  PlanEntry_PrioritySchema,
  PlanEntry_StatusSchema,
  type RunCompleted,
  type RunFailed,
  type RunResult,
  StateUpdated_Scope,
  StateUpdated_ScopeSchema,
} from "#gen/runnel/v1/result_pb.js";
import type { Usage } from "#gen/runnel/v1/usage_pb.js";
import { parseExact } from "../../platform/base/json/exact.ts";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { enumShape } from "../../platform/base/json/shape.ts";
import { outputOf, textOf } from "../in-process/message-text.ts";
import {
  type Activity,
  type ChildEnd,
  Children,
  childActivity,
  handoffActivity,
  summaryActivity,
} from "./activities.ts";
import { type AgUiEvent, type AgUiMessage, type AgUiToolCall, hexOf, runError } from "./events.ts";
import { toolCallOf } from "./thread.ts";

/** The run as the client knows it. */
export interface RunName {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId: string | undefined;
  /** Id of the run in Runnel. */
  readonly ownRunId: string;
  readonly sessionId: string;
  /** True for a client of protocol 1.0. */
  readonly isV1: boolean;
  readonly model: string;
  /** The client's state. */
  readonly state: object;
}

/** A message of this run, and the sequence of the result that began it. */
interface Said {
  readonly sequence: number;
  readonly id: string;
  readonly role: "assistant" | "tool" | "activity";
  content: string;
  toolCalls: AgUiToolCall[];
  readonly toolCallId?: string;
  /** The results of its calls. Clients put them behind the message, before what came meanwhile. */
  results: Said[];
  /** Set for an activity, which has no text and no calls. */
  activity?: Activity;
}

/** A request for an approval that has no answer yet, and the sequence of its result. */
interface Asked {
  readonly sequence: number;
  readonly interrupt: object;
}

/** Folds one log. Give it each result once, in order. */
export class AgUiFold {
  readonly #run: RunName;
  readonly #children: Children;
  /** The messages of the thread before the first answer of this run. */
  history: readonly AgUiMessage[] = [];
  #said: Said[] = [];
  /** The messages by their calls, and the activities by their ids. */
  #saidBy = new Map<string, Said>();
  #turnAt = 0;
  /** The message of the current turn; that of an earlier turn until this one says or calls something. */
  #latest: Said | undefined;
  #step: string | undefined;
  #text: string | undefined;
  /** Whether the text of the next complete message has been streamed. */
  #isStreamed = false;
  #reasoning: string | undefined;
  /** The values that runs of the thread have changed, by scope and key. */
  #state: Map<string, Map<string, unknown>> | undefined;
  /** The requests that have no answer yet, by the id of their call. */
  #asked = new Map<string, Asked[]>();
  #isOver = false;
  #isInterrupted = false;

  constructor(run: RunName) {
    this.#run = run;
    this.#children = new Children(run.isV1);
    this.#state = knownState(run.state);
  }

  /** True when the run has ended, or waits for approvals. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Returns the event that begins another AG-UI run: its client has answered all interrupts before. */
  resume(): AgUiEvent[] {
    this.#asked = new Map();
    return this.#reopen();
  }

  #reopen(): AgUiEvent[] {
    this.#isInterrupted = false;
    this.#isOver = false;
    return [...this.open(), ...this.#children.resume()];
  }

  /** Returns the event before any result. */
  open(): AgUiEvent[] {
    const { threadId, runId, parentRunId, ownRunId, sessionId, isV1 } = this.#run;
    const metadata = { runnel: { session_id: sessionId, run_id: ownRunId } };
    const version = isV1 ? { protocolVersion: "1.0" } : {};
    const parent = parentRunId === undefined ? {} : { parentRunId };
    return [{ type: "RUN_STARTED", threadId, runId, ...version, ...parent, metadata }];
  }

  /** Returns the events with which a client joins: all messages and the state so far, and the open message again. */
  join(): AgUiEvent[] {
    const state = this.#state === undefined ? [] : [this.#stateSnapshot()];
    const step = this.#step === undefined ? [] : [event("STEP_STARTED", { stepName: this.#step })];
    const reasoning = this.#reasoning === undefined ? [] : openReasoning(this.#reasoning);
    const text =
      this.#text === undefined ? [] : [event("TEXT_MESSAGE_START", { messageId: this.#text, role: "assistant" })];
    return [this.#snapshot(), ...state, ...this.#children.resume(), ...step, ...reasoning, ...text];
  }

  /** Returns the events of the next result. */
  take(result: RunResult): AgUiEvent[] {
    const { createTime } = result;
    const timestamp = createTime === undefined ? undefined : timestampMs(createTime);
    const events = [...(this.#isInterrupted ? this.#reopen() : []), ...this.#take(result)];
    return timestamp === undefined ? events : events.map((each) => ({ ...each, timestamp }));
  }

  #take(result: RunResult): AgUiEvent[] {
    const { payload } = result;
    const sequence = Number(result.sequence);
    switch (payload.case) {
      case "turnStarted":
        this.#turnAt = sequence;
        return [...this.#close(), ...this.#beginStep(`turn ${payload.value.turn}`)];
      case "reasoningDelta":
        return this.#think(sequence, payload.value.content);
      case "messageDelta":
        return this.#speak(sequence, payload.value.chunk?.content ?? "");
      case "messageCompleted":
        return this.#say(sequence, textOf(payload.value.message));
      case "toolCallStarted": {
        const { toolCallId, toolName, parameters } = payload.value;
        return [...this.#close(), ...this.#call(toolCallId, toolName, parameters)];
      }
      case "toolCallCompleted": {
        const { toolCallId, result: json, error } = payload.value;
        this.#asked.delete(toolCallId);
        const ended = this.#children.end(payload.value);
        const answer = this.#answer(sequence, toolCallId, error === undefined ? outputOf(json) : `Error: ${error}`);
        return [...(ended === undefined ? [] : this.#endChild(ended)), ...answer];
      }
      case "childRunStarted": {
        const shown = this.#show(sequence, childActivity(payload.value));
        return [...shown, ...this.#children.start(payload.value, this.#activityId(sequence))];
      }
      case "handoffCompleted":
        return this.#show(sequence, handoffActivity(payload.value));
      case "contextCompacted":
        return this.#show(sequence, summaryActivity(payload.value));
      case "turnRestarted":
        return this.#restart(sequence, Number(payload.value.fromSequence));
      case "stateUpdated":
        return this.#changeState(scopeOf(payload.value.scope), payload.value.key, parseExact(payload.value.value));
      case "planUpdated":
        return this.#changeState(scopeOf(StateUpdated_Scope.CONVERSATION), "plan", payload.value.entries.map(stepOf));
      case "approvalRequested": {
        const { toolCallId } = payload.value;
        const asked = this.#asked.get(toolCallId) ?? [];
        asked.push({ sequence, interrupt: interruptOf(payload.value) });
        this.#asked.set(toolCallId, asked);
        return [];
      }
      case "runWaiting":
        return this.#wait(payload.value.reason);
      case "runCompleted":
        return this.#complete(payload.value, result.usage);
      case "runFailed":
        return this.#fail(payload.value, result.usage);
      default:
        return [];
    }
  }

  #snapshot(): AgUiEvent {
    const said = this.#said.flatMap((each) => [each, ...each.results]);
    const own = said.map(({ id, role, content, toolCalls, toolCallId, activity }) => ({
      id,
      role,
      ...((content !== "" || role === "tool") && { content }),
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(toolCallId !== undefined && { toolCallId }),
      ...activity,
    }));
    return event("MESSAGES_SNAPSHOT", { messages: [...this.history, ...own] });
  }

  #beginStep(stepName: string): AgUiEvent[] {
    const ended = this.#endStep();
    this.#step = stepName;
    return [...ended, event("STEP_STARTED", { stepName })];
  }

  #endStep(): AgUiEvent[] {
    const stepName = this.#step;
    this.#step = undefined;
    return stepName === undefined ? [] : [event("STEP_FINISHED", { stepName })];
  }

  /** Closes the message or the reasoning that is open. */
  #close(): AgUiEvent[] {
    return [...this.#endReasoning(), ...this.#endText()];
  }

  #endReasoning(): AgUiEvent[] {
    const messageId = this.#reasoning;
    this.#reasoning = undefined;
    return messageId === undefined
      ? []
      : [event("REASONING_MESSAGE_END", { messageId }), event("REASONING_END", { messageId })];
  }

  #endText(): AgUiEvent[] {
    const messageId = this.#text;
    this.#text = undefined;
    return messageId === undefined ? [] : [event("TEXT_MESSAGE_END", { messageId })];
  }

  #think(sequence: number, delta: string): AgUiEvent[] {
    if (delta === "") {
      return [];
    }
    const opening: AgUiEvent[] = [];
    if (this.#reasoning === undefined) {
      this.#reasoning = `rs_${hexOf(this.#run.ownRunId)}_${sequence}`;
      opening.push(...openReasoning(this.#reasoning));
    }
    return [...opening, event("REASONING_MESSAGE_CONTENT", { messageId: this.#reasoning, delta })];
  }

  /** The latest message of the current turn. It is made when the turn first says or calls something. */
  #message(): Said {
    return this.#latest !== undefined && this.#latest.sequence >= this.#turnAt
      ? this.#latest
      : this.#beginMessage(this.#turnAt);
  }

  #beginMessage(sequence: number): Said {
    const id = `msg_${hexOf(this.#run.ownRunId)}_${sequence}`;
    const made: Said = { sequence, id, role: "assistant", content: "", toolCalls: [], results: [] };
    this.#said.push(made);
    this.#latest = made;
    return made;
  }

  #speak(sequence: number, delta: string): AgUiEvent[] {
    const ended = this.#endReasoning();
    if (delta === "") {
      return ended;
    }
    const current = this.#message();
    const message = current.toolCalls.length > 0 ? this.#beginMessage(sequence) : current;
    message.content += delta;
    this.#isStreamed = true;
    const messageId = message.id;
    const opening = this.#text === undefined ? [event("TEXT_MESSAGE_START", { messageId, role: "assistant" })] : [];
    this.#text = messageId;
    return [...ended, ...opening, event("TEXT_MESSAGE_CONTENT", { messageId, delta })];
  }

  /** Ends a message. A text that was not streamed is opened first. */
  #say(sequence: number, text: string): AgUiEvent[] {
    const unstreamed = this.#isStreamed ? this.#endReasoning() : this.#speak(sequence, text);
    this.#isStreamed = false;
    return [...unstreamed, ...this.#endText()];
  }

  #call(toolCallId: string, toolCallName: string, json: string): AgUiEvent[] {
    const message = this.#message();
    message.toolCalls.push(toolCallOf(toolCallId, toolCallName, json));
    if (!this.#saidBy.has(toolCallId)) {
      this.#saidBy.set(toolCallId, message);
    }
    return [
      event("TOOL_CALL_START", { toolCallId, toolCallName, parentMessageId: message.id }),
      ...(json === "" ? [] : [event("TOOL_CALL_ARGS", { toolCallId, delta: json })]),
      event("TOOL_CALL_END", { toolCallId }),
    ];
  }

  #answer(sequence: number, toolCallId: string, content: string): AgUiEvent[] {
    const messageId = `res_${toolCallId}`;
    const result: Said = { sequence, id: messageId, role: "tool", content, toolCalls: [], toolCallId, results: [] };
    (this.#saidBy.get(toolCallId)?.results ?? this.#said).push(result);
    return [event("TOOL_CALL_RESULT", { messageId, toolCallId, content, role: "tool" })];
  }

  #activityId(sequence: number): string {
    return `act_${hexOf(this.#run.ownRunId)}_${sequence}`;
  }

  #show(sequence: number, activity: Activity): AgUiEvent[] {
    const messageId = this.#activityId(sequence);
    const said: Said = { sequence, id: messageId, role: "activity", content: "", toolCalls: [], results: [], activity };
    this.#said.push(said);
    this.#saidBy.set(messageId, said);
    return [...this.#close(), event("ACTIVITY_SNAPSHOT", { messageId, ...activity })];
  }

  #endChild({ messageId, content, events }: ChildEnd): readonly AgUiEvent[] {
    const said = this.#saidBy.get(messageId);
    if (said?.activity !== undefined) {
      said.activity = { ...said.activity, content };
    }
    return events;
  }

  #restart(sequence: number, fromSequence: number): AgUiEvent[] {
    const isKept = (each: Said): boolean => each.sequence < fromSequence;
    this.#said = this.#said.filter(isKept);
    for (const said of this.#said) {
      said.results = said.results.filter(isKept);
    }
    this.#saidBy = new Map([...this.#saidBy].filter(([, said]) => isKept(said)));
    const dropped = this.#children
      .drop((messageId) => !this.#saidBy.has(messageId))
      .flatMap((each) => this.#endChild(each));
    const closing = [...this.#close(), ...this.#endStep(), ...dropped];
    for (const [toolCallId, asked] of this.#asked) {
      this.#asked.set(
        toolCallId,
        asked.filter((each) => each.sequence < fromSequence),
      );
    }
    this.#turnAt = sequence;
    this.#isStreamed = false;
    return [...closing, this.#snapshot()];
  }

  #wait(reason: string): AgUiEvent[] {
    const asked = [...this.#asked.values()].flat().sort((one, other) => one.sequence - other.sequence);
    if (asked.length === 0) {
      return [event("CUSTOM", { name: "runnel.waiting", value: { reason } })];
    }
    const { threadId, runId } = this.#run;
    const interrupts = asked.map(({ interrupt }) => interrupt);
    this.#isOver = true;
    this.#isInterrupted = true;
    return [
      ...this.#close(),
      ...this.#endStep(),
      ...this.#children.suspend(),
      event("RUN_FINISHED", { threadId, runId, outcome: { type: "interrupt", interrupts } }),
    ];
  }

  #changeState(scope: string, key: string, added: unknown): AgUiEvent[] {
    const isFirst = this.#state === undefined;
    const state = this.#state ?? new Map<string, Map<string, unknown>>();
    const known = state.get(scope);
    this.#state = state.set(scope, (known ?? new Map<string, unknown>()).set(key, added));
    if (isFirst) {
      return [this.#stateSnapshot()];
    }
    // A patch adds only to an object that is there.
    const [path, value] =
      known === undefined
        ? [pointerTo("runnel", scope), Object.fromEntries([[key, added]])]
        : [pointerTo("runnel", scope, key), added];
    return [event("STATE_DELTA", { delta: [{ op: "add", path, value }] })];
  }

  #stateSnapshot(): AgUiEvent {
    const scopesNow = [...(this.#state ?? [])].map(([scope, values]) => [scope, Object.fromEntries(values)] as const);
    return event("STATE_SNAPSHOT", { snapshot: { ...this.#run.state, runnel: Object.fromEntries(scopesNow) } });
  }

  #complete({ finishReason, message, output, pendingToolCalls }: RunCompleted, usage: Usage | undefined): AgUiEvent[] {
    const calls = pendingToolCalls.flatMap(({ id, name, arguments: json }) => this.#call(id, name, json));
    const { threadId, runId, isV1 } = this.#run;
    const pending = isV1 && calls.length > 0 ? { pendingToolCallIds: pendingToolCalls.map(({ id }) => id) } : {};
    this.#isOver = true;
    return [
      ...this.#close(),
      ...calls,
      ...this.#endAll(),
      event("RUN_FINISHED", {
        threadId,
        runId,
        outcome: { type: "success", ...pending },
        result: { finish_reason: finishReason, output: message === undefined ? output : textOf(message) },
        usage: this.#usage(usage),
      }),
    ];
  }

  #fail({ code, error, modelError }: RunFailed, usage: Usage | undefined): AgUiEvent[] {
    const { threadId, runId, isV1 } = this.#run;
    this.#isOver = true;
    const closing = [...this.#close(), ...this.#endAll()];
    return code === "cancelled" && isV1
      ? [
          ...closing,
          event("RUN_FINISHED", { threadId, runId, outcome: { type: "cancelled" }, usage: this.#usage(usage) }),
        ]
      : [
          ...closing,
          { ...runError(modelError ? causeWord(modelError.cause) : code, error), usage: this.#usage(usage) },
        ];
  }

  /** Ends what a run may leave open. */
  #endAll(): AgUiEvent[] {
    return [...this.#endStep(), ...this.#children.drop(() => true).flatMap((each) => this.#endChild(each))];
  }

  #usage(usage: Usage | undefined): object[] {
    if (usage === undefined) {
      return [];
    }
    const { promptTokens = 0n, completionTokens = 0n, cachedTokens = 0n, reasoningTokens = 0n } = usage;
    return [
      {
        inputTokens: Number(promptTokens),
        outputTokens: Number(completionTokens),
        totalTokens: Number(promptTokens + completionTokens),
        reasoningTokens: Number(reasoningTokens),
        cachedInputTokens: Number(cachedTokens),
        model: this.#run.model,
      },
    ];
  }
}

/** Returns the values that earlier runs have changed, as the client still has them; undefined when it has none. */
function knownState({ runnel }: { readonly runnel?: unknown }): Map<string, Map<string, unknown>> | undefined {
  return isObject(runnel) && Object.values(runnel).every(isObject)
    ? new Map(Object.entries(runnel).map(([scope, values]) => [scope, new Map(Object.entries(values as object))]))
    : undefined;
}

/** Returns the request as the client asks its person. */
function interruptOf({ approvalId, toolCallId, action, digest, expireTime }: ApprovalRequested): object {
  return {
    id: approvalId,
    ...(toolCallId === "" ? { reason: "confirmation" } : { reason: "tool_call", toolCallId }),
    message: `Approve ${action}?`,
    responseSchema: {
      type: "object",
      properties: { approved: { type: "boolean" }, comment: { type: "string" } },
      required: ["approved"],
    },
    ...(expireTime && { expiresAt: timestampDate(expireTime).toISOString() }),
    metadata: { runnel: { action, digest } },
  };
}

function scopeOf(scope: StateUpdated_Scope): string {
  return enumShape(StateUpdated_ScopeSchema).texts.get(scope) ?? String(scope);
}

/** Returns a step of a plan as the state has it: `{"text": "Read", "status": "pending"}`. */
function stepOf({ text, status, priority }: PlanEntry): object {
  return {
    text,
    status: enumShape(PlanEntry_StatusSchema).texts.get(status),
    ...(priority !== 0 && { priority: enumShape(PlanEntry_PrioritySchema).texts.get(priority) }),
  };
}

/** Returns a JSON pointer: `/a/b~1c`. */
function pointerTo(...parts: readonly string[]): string {
  return parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function event(type: string, fields: object): AgUiEvent {
  return { type, ...fields };
}

function openReasoning(messageId: string): AgUiEvent[] {
  return [event("REASONING_START", { messageId }), event("REASONING_MESSAGE_START", { messageId, role: "reasoning" })];
}

/** Returns the word of the contract for a cause: `rate_limit`. */
function causeWord(cause: ModelError_Cause): string {
  return enumShape(ModelError_CauseSchema).texts.get(cause) ?? "";
}
