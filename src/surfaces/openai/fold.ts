// Folds the log of a run into the events of a response, and into the response itself. Pure: the same log gives the same events to
// every reader, on every replica, after every retry.
//
// O1  Events are numbered from 0 without a gap. `response.created` is the first one, and one terminal event the last.
// O2  Each item is opened before its events and closed exactly once. Its id comes from the result that opened it.
// O3  A call or an image that comes while its model speaks closes the message, and text after it is another item: a provider runs such calls itself.
// O4  A call of an MCP server that waits for approval is an item when it has ended. The wait ends the response: its request is an item, and
//     the answer begins another response, which folds the same log after the wait.
// O5  A call that started a child run has its response in `response_id`: at the end, and before in a second `mcp_call.in_progress`.
// O6  Items of a turn that began again are closed as incomplete, and the final output leaves them out.

import type { Message, TokenLogprob, ToolCall } from "#gen/runnel/v1/message_pb.js";
import type {
  ArtifactCreated,
  ChildRunStarted,
  ContextCompacted,
  RunCompleted,
  RunFailed,
  RunResult,
  ToolCallCompleted,
  ToolCallStarted,
} from "#gen/runnel/v1/result_pb.js";
import { findServerTool, type ServerTool } from "../in-process/mcp-servers.ts";
import { outputOf, textOf } from "../in-process/message-text.ts";
import { type CallerTools, callerToolsOf, shownCall } from "./caller-tools.ts";
import { annotationsOf } from "./citations.ts";
import type { Origin } from "./echo.ts";
import { type ApiError, failureOf } from "./errors.ts";
import { plain, responseIdOf } from "./ids.ts";
import type { LocalCallType } from "./local-tools.ts";
import { logprobsOf } from "./logprobs.ts";
import { type Progress, responseObject, usageObject } from "./response.ts";
import { sealState, sealSummary } from "./sealed-state.ts";
import { serverLabel } from "./tools.ts";

/** An event of a response's stream. */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [field: string]: unknown;
}

type ItemKind =
  | "message"
  | "reasoning"
  | "mcp_approval_request"
  | "mcp_call"
  | "function_call"
  | "custom_tool_call"
  | LocalCallType
  | "image_generation_call"
  | "compaction";

/** A call that waits for approval. */
interface HeldCall {
  readonly call: ToolCallStarted;
  readonly tool: ServerTool;
  /** The id of the request; null before it. */
  readonly request: string | null;
}

/** An item of the output while it is written. */
interface Item {
  readonly index: number;
  /** The sequence of the result that opened it. */
  readonly sequence: number;
  readonly id: string;
  readonly kind: ItemKind;
  text: string;
  /** Those of its text. */
  readonly logprobs: object[];
  /** The finished item; undefined while it is open. */
  done?: object;
  isVoid?: boolean;
}

/** Folds one log. Give it each result once, in order. */
export class ResponseFold {
  readonly #origin: Origin;
  readonly #callerTools: CallerTools;
  readonly #items: Item[] = [];
  readonly #calls = new Map<string, Item & { call: object }>();
  readonly #held = new Map<string, HeldCall>();
  #hasBegun: boolean;
  #isAsking = false;
  #speaking: Item | undefined;
  #thinking: Item | undefined;
  /** Whether the text of the next complete message has been streamed. */
  #isStreamed = false;
  #sequence = 0;
  #progress: Progress;
  #modelFailure: ApiError | undefined;

  /** The sequence at which the response ended with requests for approval; undefined for another end. */
  waitedAt: number | undefined;

  constructor(origin: Origin) {
    this.#origin = origin;
    this.#hasBegun = origin.after > 0;
    this.#callerTools = callerToolsOf(origin.echo.tools);
    this.#progress = {
      status: origin.echo.background && origin.after === 0 ? "queued" : "in_progress",
      output: [],
      completedAt: null,
      error: null,
      incompleteDetails: null,
      usage: null,
    };
  }

  /** The response as of the results so far. */
  get response(): object {
    return responseObject(this.#origin, { ...this.#progress, output: this.#output() });
  }

  /** The finished items. */
  get output(): readonly object[] {
    return this.#output();
  }

  /** The number of the last event; -1 before the first one. */
  get lastNumber(): number {
    return this.#sequence - 1;
  }

  /** True when the run has ended. */
  get isOver(): boolean {
    return this.#progress.completedAt !== null;
  }

  /** The error of a run whose model gave no response; undefined for every other end. */
  get modelFailure(): ApiError | undefined {
    return this.#modelFailure;
  }

  /** Returns the events before any result. Call it first. */
  open(): ResponseEvent[] {
    const created = this.#event("response.created", { response: this.#bare() });
    if (this.#origin.after > 0) {
      return [created, this.#event("response.in_progress", { response: this.#bare() })];
    }
    return this.#origin.echo.background
      ? [created, this.#event("response.queued", { response: this.#bare() })]
      : [created];
  }

  /** Returns the events of the next result. */
  take(result: RunResult): ResponseEvent[] {
    const { payload } = result;
    const sequence = Number(result.sequence);
    if (this.isOver) {
      return [];
    }
    if (sequence <= this.#origin.after) {
      this.#remember(payload);
      return [];
    }
    switch (payload.case) {
      case "turnStarted":
        return [...this.#endThinking(), ...this.#begin(payload.value.turn)];
      case "reasoningDelta":
        return this.#think(sequence, payload.value.content);
      case "messageDelta": {
        const { content = "", logprobs = [] } = payload.value.chunk ?? {};
        return [...this.#endThinking(), ...this.#speak(sequence, content, logprobs)];
      }
      case "messageCompleted":
        return this.#endMessage(sequence, payload.value.message);
      case "toolCallStarted":
        this.#remember(payload);
        return [
          ...this.#endThinking(),
          ...this.#endSpeaking("completed"),
          ...(this.#held.has(payload.value.toolCallId) ? [] : this.#startCall(sequence, payload.value)),
        ];
      case "approvalRequested":
        this.#remember(payload);
        return this.#ask(sequence, payload.value.toolCallId);
      case "childRunStarted":
        return this.#nameChild(payload.value);
      case "contextCompacted":
        return this.#summarise(sequence, payload.value);
      case "toolCallCompleted":
        return [...this.#release(sequence, payload.value), ...this.#endCall(payload.value.toolCallId, payload.value)];
      case "runWaiting":
        return this.#wait(result);
      case "artifactCreated":
        return payload.value.artifactType === "image"
          ? [...this.#endThinking(), ...this.#endSpeaking("completed"), ...this.#showImage(sequence, payload.value)]
          : [];
      case "turnRestarted":
        return this.#restart(Number(payload.value.fromSequence));
      case "runCompleted":
        return this.#complete(sequence, payload.value, result);
      case "runFailed":
        return this.#fail(payload.value, result);
      default:
        return [];
    }
  }

  #event(type: string, fields: object): ResponseEvent {
    const event = { type, sequence_number: this.#sequence, ...fields };
    this.#sequence += 1;
    return event;
  }

  /** The response without output, as it is before the first item. */
  #bare(): object {
    return responseObject(this.#origin, this.#progress);
  }

  #output(): readonly object[] {
    return this.#items.flatMap(({ done, isVoid }) => (done === undefined || isVoid === true ? [] : [done]));
  }

  #begin(turn: number): ResponseEvent[] {
    if (turn > 1 || this.#hasBegun) {
      return [];
    }
    this.#hasBegun = true;
    this.#progress = { ...this.#progress, status: "in_progress" };
    return [this.#event("response.in_progress", { response: this.#bare() })];
  }

  #openItem(kind: Item["kind"], prefix: string, sequence: number, position = 0): Item {
    const place = position === 0 ? `${sequence}` : `${sequence}_${position}`;
    const id = `${prefix}_${plain(this.#origin.runId)}_${place}`;
    const item: Item = { index: this.#items.length, sequence, id, kind, text: "", logprobs: [] };
    this.#items.push(item);
    return item;
  }

  #added({ index }: Item, item: object): ResponseEvent {
    return this.#event("response.output_item.added", { output_index: index, item });
  }

  #done(item: Item, finished: object): ResponseEvent {
    item.done = finished;
    return this.#event("response.output_item.done", { output_index: item.index, item: finished });
  }

  #think(sequence: number, delta: string): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    if (this.#thinking === undefined) {
      const item = this.#openItem("reasoning", "rs", sequence);
      this.#thinking = item;
      const part = { type: "summary_text", text: "" };
      events.push(
        this.#added(item, { id: item.id, type: "reasoning", summary: [], status: "in_progress" }),
        this.#event("response.reasoning_summary_part.added", { ...summaryPlace(item), part }),
      );
    }
    const item = this.#thinking;
    item.text += delta;
    return [...events, this.#event("response.reasoning_summary_text.delta", { ...summaryPlace(item), delta })];
  }

  #endThinking(
    status: "completed" | "incomplete" = "completed",
    sealed: { readonly encrypted_content?: string } = {},
  ): ResponseEvent[] {
    const item = this.#thinking;
    if (item === undefined) {
      return [];
    }
    this.#thinking = undefined;
    const part = { type: "summary_text", text: item.text };
    return [
      this.#event("response.reasoning_summary_text.done", { ...summaryPlace(item), text: item.text }),
      this.#event("response.reasoning_summary_part.done", { ...summaryPlace(item), part }),
      this.#done(item, { id: item.id, type: "reasoning", summary: [part], ...sealed, status }),
    ];
  }

  /** Ends the thoughts and the text of a response. Its state is known now: it stands with the thoughts, or after the text. */
  #endMessage(sequence: number, message: Message | undefined): ResponseEvent[] {
    const state = this.#origin.echo.hasState === true && message !== undefined ? sealState(message) : undefined;
    const sealed = state === undefined ? {} : { encrypted_content: state };
    const isThinking = this.#thinking !== undefined && (this.#isStreamed || textOf(message) === "");
    const events = [...this.#endThinking("completed", isThinking ? sealed : {}), ...this.#say(sequence, message)];
    if (state === undefined || isThinking) {
      return events;
    }
    const item = this.#openItem("reasoning", "rs", sequence);
    const thoughts = { id: item.id, type: "reasoning", summary: [] };
    events.push(
      this.#added(item, { ...thoughts, status: "in_progress" }),
      this.#done(item, { ...thoughts, ...sealed, status: "completed" }),
    );
    return events;
  }

  #speak(sequence: number, delta: string, given: readonly TokenLogprob[]): ResponseEvent[] {
    const events: ResponseEvent[] = [];
    if (delta === "" && given.length === 0) {
      return events;
    }
    if (this.#speaking === undefined) {
      const item = this.#openItem("message", "msg", sequence);
      this.#speaking = item;
      events.push(
        this.#added(item, { id: item.id, type: "message", role: "assistant", status: "in_progress", content: [] }),
        this.#event("response.content_part.added", { ...contentPlace(item), part: textPart("") }),
      );
    }
    const item = this.#speaking;
    item.text += delta;
    this.#isStreamed = true;
    const logprobs = logprobsOf(given);
    // A whole message may have more than fit into the arguments of one call.
    for (const each of logprobs) {
      item.logprobs.push(each);
    }
    return [...events, this.#event("response.output_text.delta", { ...contentPlace(item), delta, logprobs })];
  }

  /** Ends a message. A text that was not streamed is opened first. */
  #say(sequence: number, message: Message | undefined): ResponseEvent[] {
    const unstreamed = this.#isStreamed ? [] : this.#speak(sequence, textOf(message), message?.logprobs ?? []);
    this.#isStreamed = false;
    return [...unstreamed, ...this.#endSpeaking("completed", annotationsOf(message))];
  }

  #endSpeaking(status: "completed" | "incomplete", annotations: readonly object[] = []): ResponseEvent[] {
    const item = this.#speaking;
    if (item === undefined) {
      return [];
    }
    this.#speaking = undefined;
    const { id, text, logprobs } = item;
    const part = { ...textPart(text), annotations, logprobs };
    const added = annotations.map((annotation, annotation_index) =>
      this.#event("response.output_text.annotation.added", { ...contentPlace(item), annotation_index, annotation }),
    );
    return [
      ...added,
      this.#event("response.output_text.done", { ...contentPlace(item), text, logprobs }),
      this.#event("response.content_part.done", { ...contentPlace(item), part }),
      this.#done(item, { id, type: "message", role: "assistant", status, content: [part] }),
    ];
  }

  /** The result is null for an image that is not in the log. */
  #showImage(sequence: number, { contentBase64 }: ArtifactCreated): ResponseEvent[] {
    const item = this.#openItem("image_generation_call", "ig", sequence);
    const call = { id: item.id, type: item.kind };
    const place = { item_id: item.id, output_index: item.index };
    return [
      this.#added(item, { ...call, status: "in_progress", result: null }),
      this.#event("response.image_generation_call.in_progress", place),
      this.#event("response.image_generation_call.completed", place),
      this.#done(item, { ...call, status: "completed", result: contentBase64 ?? null }),
    ];
  }

  /** Keeps the calls that wait for approval, also those of the responses before. */
  #remember(payload: RunResult["payload"]): void {
    if (payload.case === "toolCallStarted") {
      const tool = this.#serverToolOf(payload.value);
      if (tool?.needsApproval === true) {
        this.#held.set(payload.value.toolCallId, { call: payload.value, tool, request: null });
      }
    } else if (payload.case === "approvalRequested") {
      const held = this.#held.get(payload.value.toolCallId);
      if (held !== undefined) {
        const request = `mcpr_${plain(payload.value.approvalId)}`;
        this.#held.set(payload.value.toolCallId, { ...held, request });
      }
    }
  }

  #serverToolOf({ toolName, runByProvider }: ToolCallStarted): ServerTool | undefined {
    return runByProvider ? undefined : findServerTool(this.#origin.agent?.tools, toolName);
  }

  #ask(sequence: number, toolCallId: string): ResponseEvent[] {
    const held = this.#held.get(toolCallId);
    if (held === undefined) {
      return [];
    }
    this.#isAsking = true;
    const { call, tool, request: id } = held;
    const item = this.#openItem("mcp_approval_request", "mcpr", sequence);
    const shown = { id, type: item.kind, server_label: tool.server, name: tool.name, arguments: call.parameters };
    return [this.#added(item, shown), this.#done(item, shown)];
  }

  /** Opens a call that has waited. */
  #release(sequence: number, { toolCallId }: ToolCallCompleted): ResponseEvent[] {
    const held = this.#held.get(toolCallId);
    this.#held.delete(toolCallId);
    return held === undefined ? [] : this.#startCall(sequence, held.call, held.request);
  }

  /** A wait for other approvals, or for a time, is a part of the response. */
  #wait(result: RunResult): ResponseEvent[] {
    if (!this.#isAsking) {
      return [];
    }
    const events = this.#breakOff();
    this.waitedAt = Number(result.sequence);
    this.#end(result, { status: "completed" });
    return [...events, this.#event("response.completed", { response: this.response })];
  }

  #startCall(sequence: number, started: ToolCallStarted, request: string | null = null): ResponseEvent[] {
    const { toolCallId, toolName, parameters } = started;
    const tool = this.#serverToolOf(started);
    const item = this.#openItem("mcp_call", "mcp", sequence);
    const call = {
      id: item.id,
      type: "mcp_call",
      server_label: tool?.server ?? serverLabel,
      name: tool?.name ?? toolName,
      approval_request_id: request,
    };
    const empty = { ...call, arguments: "", output: null, error: null, status: "in_progress" };
    this.#calls.set(toolCallId, Object.assign(item, { call: { ...call, arguments: parameters } }));
    const place = { item_id: item.id, output_index: item.index };
    return [
      this.#added(item, empty),
      this.#event("response.mcp_call.in_progress", place),
      this.#event("response.mcp_call_arguments.delta", { ...place, delta: parameters }),
      this.#event("response.mcp_call_arguments.done", { ...place, arguments: parameters }),
    ];
  }

  #nameChild({ toolCallId, runId }: ChildRunStarted): ResponseEvent[] {
    const item = this.#calls.get(toolCallId);
    if (item === undefined || item.done !== undefined) {
      return [];
    }
    const child = { response_id: responseIdOf(runId) };
    item.call = { ...item.call, ...child };
    return [this.#event("response.mcp_call.in_progress", { item_id: item.id, output_index: item.index, ...child })];
  }

  /** A summary is whole when it comes. */
  #summarise(sequence: number, { summary }: ContextCompacted): ResponseEvent[] {
    const item = this.#openItem("compaction", "cmp", sequence);
    const shown = { id: item.id, type: item.kind, encrypted_content: sealSummary(summary) };
    return [this.#added(item, shown), this.#done(item, shown)];
  }

  #endCall(toolCallId: string, { result, error }: ToolCallCompleted): ResponseEvent[] {
    const item = this.#calls.get(toolCallId);
    if (item === undefined || item.done !== undefined) {
      return [];
    }
    const { id, index, call } = item;
    const place = { item_id: id, output_index: index };
    if (error === undefined) {
      const finished = { ...call, status: "completed", output: outputOf(result), error: null };
      return [this.#event("response.mcp_call.completed", place), this.#done(item, finished)];
    }
    const failure = { type: "mcp_tool_execution_error", content: [{ type: "text", text: error }] };
    const finished = { ...call, status: "failed", output: null, error: failure };
    return [this.#event("response.mcp_call.failed", place), this.#done(item, finished)];
  }

  /** Closes the open items as incomplete. */
  #breakOff(): ResponseEvent[] {
    const calls = [...this.#calls.values()].filter(({ done }) => done === undefined);
    return [
      ...this.#endThinking("incomplete"),
      ...this.#endSpeaking("incomplete"),
      ...calls.map((item) => this.#done(item, { ...item.call, status: "incomplete", output: null, error: null })),
    ];
  }

  #restart(fromSequence: number): ResponseEvent[] {
    const events = this.#breakOff();
    this.#isStreamed = false;
    for (const item of this.#items) {
      item.isVoid ||= item.sequence >= fromSequence;
    }
    return events;
  }

  #complete(sequence: number, { finishReason, pendingToolCalls }: RunCompleted, result: RunResult): ResponseEvent[] {
    const events = this.#breakOff();
    for (const [position, call] of pendingToolCalls.entries()) {
      events.push(...this.#callOfCaller(sequence, position, call));
    }
    const isCut = finishReason === "length";
    this.#end(result, {
      status: isCut ? "incomplete" : "completed",
      incompleteDetails: isCut ? { reason: "max_output_tokens" } : null,
    });
    return [...events, this.#event(isCut ? "response.incomplete" : "response.completed", { response: this.response })];
  }

  #callOfCaller(sequence: number, position: number, call: ToolCall): ResponseEvent[] {
    const shown = shownCall(call, this.#callerTools);
    const { type, prefix, fields, begun } = shown;
    const item = this.#openItem(type, prefix, sequence, position);
    const whole = { id: item.id, type, call_id: call.id, ...fields };
    return [
      this.#added(item, { ...whole, ...begun, status: "in_progress" }),
      ...this.#piecesOf(item, shown),
      this.#done(item, { ...whole, status: "completed" }),
    ];
  }

  #piecesOf(
    { id: item_id, index: output_index }: Item,
    { type, fields }: ReturnType<typeof shownCall>,
  ): ResponseEvent[] {
    const place = { item_id, output_index };
    switch (type) {
      case "function_call": {
        const { name, arguments: json } = fields;
        return [
          this.#event("response.function_call_arguments.delta", { ...place, delta: json }),
          this.#event("response.function_call_arguments.done", { ...place, name, arguments: json }),
        ];
      }
      case "custom_tool_call": {
        const { input } = fields;
        return [
          this.#event("response.custom_tool_call_input.delta", { ...place, delta: input }),
          this.#event("response.custom_tool_call_input.done", { ...place, input }),
        ];
      }
      default:
        return [];
    }
  }

  #fail(failure: RunFailed, result: RunResult): ResponseEvent[] {
    const { code, error, modelError } = failure;
    const events = this.#breakOff();
    const isCancelled = code === "cancelled";
    this.#modelFailure = modelError && failureOf(failure);
    this.#end(result, {
      status: isCancelled ? "cancelled" : "failed",
      error: isCancelled ? null : { code: this.#modelFailure?.body.code ?? "server_error", message: error, type: code },
    });
    return [
      ...events,
      this.#event(isCancelled ? "response.incomplete" : "response.failed", { response: this.response }),
    ];
  }

  #end({ createTime, usage }: RunResult, end: Partial<Progress>): void {
    const completedAt = Number(createTime?.seconds ?? 0);
    this.#progress = { ...this.#progress, ...end, completedAt, usage: usageObject(usage) };
  }
}

function contentPlace({ id, index }: Item) {
  return { item_id: id, output_index: index, content_index: 0 };
}

function summaryPlace({ id, index }: Item) {
  return { item_id: id, output_index: index, summary_index: 0 };
}

function textPart(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}
