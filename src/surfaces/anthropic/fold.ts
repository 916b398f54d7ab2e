// Folds the log of a run into a message and the events of its stream.
//
// F1  Text and thoughts are given as they arrive. What the model wants back with them is known at the end of a response: thoughts stay
//     open for their signatures until then.
// F2  A stream cannot take back what it has given. A whole message can.

import { create } from "@bufbuild/protobuf";
import type { Message, ToolCall } from "#gen/runnel/v1/message_pb.js";
import {
  ModelError_Cause,
  type RunCompleted,
  type RunFailed,
  type RunResult,
  type ToolCallCompleted,
  type ToolCallStarted,
} from "#gen/runnel/v1/result_pb.js";
import { type AgentTools, AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";
import type { Usage } from "#gen/runnel/v1/usage_pb.js";
import { parseExact } from "../../platform/base/json/exact.ts";
import { parseObject } from "../../platform/base/json/parse-object.ts";
import { findServerTool } from "../in-process/mcp-servers.ts";
import { outputOf, textOf } from "../in-process/message-text.ts";
import { ContentBlocks, type StreamEvent } from "./content-blocks.ts";
import { type ApiError, failureOf, overloaded } from "./errors.ts";
import { serverCallIdOf } from "./ids.ts";
import type { Asked } from "./request.ts";
import { type Block, readNative, sealState } from "./state.ts";

/** What the fold is of. */
export type FoldOptions = Pick<Asked, "model" | "isStream" | "thoughts" | "longNames" | "agent"> & {
  readonly id: string;
};

/** What a log has said so far. */
export class MessageFold {
  readonly #options: FoldOptions;
  readonly #content = new ContentBlocks();
  readonly #nativeCalls = new Map<unknown, Block>();
  /** The ids of the calls of MCP servers, as callers see them. */
  readonly #serverCalls = new Map<string, string>();
  readonly #servers: AgentTools;
  /** The index of the first block of the current response, and of the blocks that grow. */
  #turn = 0;
  #text: number | undefined;
  #thought: number | undefined;
  #container: string | undefined;
  #stop: Stop | undefined;
  #usage: Usage | undefined;
  failure: ApiError | undefined;

  constructor(options: FoldOptions) {
    this.#options = options;
    this.#servers = create(AgentToolsSchema, options.agent.tools ?? {});
  }

  get hasEnded(): boolean {
    return this.#stop !== undefined || this.failure !== undefined;
  }

  /** The whole message. */
  get message(): object {
    return this.#head(this.#content.all, this.#stop);
  }

  /** Returns the event that begins a stream. */
  open(): StreamEvent {
    return { type: "message_start", message: this.#head([], undefined) };
  }

  /** Returns the events of the next result. */
  take({ payload, sequence, usage }: RunResult): StreamEvent[] {
    switch (payload.case) {
      case "reasoningDelta":
        return this.#think(payload.value.content, sequence);
      case "messageDelta":
        return this.#say(payload.value.chunk?.content ?? "", sequence);
      case "toolCallStarted":
        return this.#call(payload.value, sequence);
      case "toolCallCompleted":
        return this.#answer(payload.value, sequence);
      case "messageCompleted":
        return payload.value.message === undefined ? [] : this.#complete(payload.value.message, sequence);
      case "turnRestarted":
        this.#restart(payload.value.fromSequence);
        return [];
      case "runCompleted":
        this.#usage = usage;
        return this.#end(payload.value, sequence);
      case "runFailed":
        this.#usage = usage;
        return this.#fail(payload.value);
      default:
        return [];
    }
  }

  #think(piece: string, sequence: bigint): StreamEvent[] {
    if (this.#options.thoughts !== "shown" || piece === "") {
      return [];
    }
    const before = this.#endText();
    const begun = this.#thought === undefined ? this.#content.begin(emptyThought, sequence) : [];
    this.#thought ??= this.#content.count - 1;
    return [...before, ...begun, ...this.#content.extend(this.#thought, "thinking", piece)];
  }

  #say(piece: string, sequence: bigint): StreamEvent[] {
    if (piece === "") {
      return [];
    }
    const begun = this.#text === undefined ? this.#content.begin({ type: "text", text: "" }, sequence) : [];
    this.#text ??= this.#content.count - 1;
    this.#thought = undefined;
    return [...begun, ...this.#content.extend(this.#text, "text", piece)];
  }

  /** Shows calls that Anthropic runs, and those of MCP servers, and no others: callers would take those for their own. */
  #call(started: ToolCallStarted, sequence: bigint): StreamEvent[] {
    const { toolCallId: id, toolName: name, parameters } = started;
    const type = callTypeOf(id);
    const call = type === undefined ? this.#serverCall(started, sequence) : { type, id, name };
    if (call === undefined) {
      return [];
    }
    const events = [...this.#endGrowing(), ...this.#content.addCall(call, parseExact(parameters), sequence)];
    if (type === undefined) {
      this.#beginTurn();
    }
    return events;
  }

  #serverCall({ toolCallId, toolName, runByProvider }: ToolCallStarted, sequence: bigint): Block | undefined {
    const tool = runByProvider ? undefined : findServerTool(this.#servers, toolName);
    if (tool === undefined) {
      return undefined;
    }
    const id = serverCallIdOf(this.#options.id, sequence);
    this.#serverCalls.set(toolCallId, id);
    return { type: "mcp_tool_use", id, name: tool.name, server_name: tool.server };
  }

  #answer(completed: ToolCallCompleted, sequence: bigint): StreamEvent[] {
    const { toolCallId, toolName, result, error } = completed;
    const own = this.#serverCalls.get(toolCallId);
    if (own !== undefined) {
      const content = [{ type: "text", text: error ?? outputOf(result) }];
      const block = { type: "mcp_tool_result", tool_use_id: own, is_error: error !== undefined, content };
      const events = this.#content.add(block, sequence);
      this.#beginTurn();
      return events;
    }
    const call = callTypeOf(toolCallId);
    if (call === undefined) {
      return [];
    }
    const type = call === "mcp_tool_use" ? "mcp_tool_result" : `${toolName}_tool_result`;
    const { content } = parseExact(result ?? "{}") as { readonly content?: unknown };
    const failed = { type: `${type}_error`, error_code: "unavailable" };
    const block = { type, tool_use_id: toolCallId, content: error === undefined ? content : failed };
    return this.#content.add(block, sequence);
  }

  #complete(message: Message, sequence: bigint): StreamEvent[] {
    const hasText = this.#content.from(this.#turn).some(({ block }) => block.type === "text");
    const said = hasText ? [] : this.#say(textOf(message), sequence);
    const { providerSpecificFields: state } = message;
    const kept = state === undefined ? [] : this.#keep(state, message, sequence);
    const ended = this.#content.endFrom(this.#turn);
    this.#beginTurn();
    return [...said, ...kept, ...ended];
  }

  /** Gives out what the model wants back: as Claude's own blocks, or sealed. */
  #keep(state: string, { toolCalls }: Message, sequence: bigint): StreamEvent[] {
    const native = readNative(state);
    this.#container = native?.container ?? this.#container;
    for (const block of native?.blocks ?? []) {
      if (block.type === "tool_use") {
        this.#nativeCalls.set(block.id, block);
      }
    }
    const blocks = native?.blocks.filter(({ type }) => type !== "tool_use");
    if (blocks !== undefined && !this.#options.isStream) {
      this.#content.replaceFrom(this.#turn, blocks, sequence);
      return [];
    }
    return (blocks && this.#sign(blocks)) ?? this.#seal(state, toolCalls, sequence);
  }

  /** Signs the thoughts of a stream, and cites sources. Returns undefined when the stream had other blocks than the response. */
  #sign(blocks: readonly Block[]): StreamEvent[] | undefined {
    const given = this.#content.from(this.#turn);
    const made = joinTexts(blocks);
    if (given.length !== made.length || given.some(({ block }, place) => block.type !== made[place]?.type)) {
      return undefined;
    }
    return given.flatMap(({ index }, place) => {
      const { type, signature, citations } = made[place] ?? { type: "" };
      if (type === "thinking" && typeof signature === "string") {
        return this.#content.extend(index, "signature", signature);
      }
      return type === "text" && Array.isArray(citations) ? this.#content.cite(index, citations) : [];
    });
  }

  /** Callers that ask for no thoughts expect text alone: they get a sealed state only when the response waits for results. */
  #seal(state: string, toolCalls: readonly ToolCall[], sequence: bigint): StreamEvent[] {
    const sealed = sealState(state);
    const thought = this.#content.from(this.#turn).findLast(({ block }) => block.type === "thinking");
    if (thought !== undefined) {
      return this.#content.extend(thought.index, "signature", sealed);
    }
    return this.#options.thoughts === "none" && toolCalls.length === 0
      ? []
      : [...this.#endGrowing(), ...this.#content.add({ type: "redacted_thinking", data: sealed }, sequence)];
  }

  #restart(fromSequence: bigint): void {
    const hasDropped = this.#content.dropSince(fromSequence);
    this.#beginTurn();
    if (hasDropped && this.#options.isStream) {
      this.failure = overloaded("the answer began again after a part of it was sent: repeat the request");
    }
  }

  #end({ finishReason, stopSequence, pendingToolCalls }: RunCompleted, sequence: bigint): StreamEvent[] {
    const calls = pendingToolCalls.flatMap(({ id, name, arguments: json }) => {
      const call = this.#nativeCalls.get(id) ?? { type: "tool_use", id };
      const own = { ...call, name: this.#options.longNames.get(name) ?? name };
      return this.#content.addCall(own, inputOf(json), sequence);
    });
    if (pendingToolCalls.length > 0) {
      return [...calls, ...this.#close({ reason: "tool_use" })];
    }
    if (stopSequence !== undefined) {
      return this.#close({ reason: "stop_sequence", sequence: stopSequence });
    }
    return this.#close({ reason: finishReason === "length" ? "max_tokens" : "end_turn" });
  }

  #fail(failed: RunFailed): StreamEvent[] {
    if (failed.modelError?.cause !== ModelError_Cause.CONTENT_FILTER) {
      this.failure = failureOf(failed);
      return [];
    }
    const details = { type: "refusal", category: null, explanation: failed.error };
    return [...this.#content.endFrom(this.#turn), ...this.#close({ reason: "refusal", details })];
  }

  #close(stop: Stop): StreamEvent[] {
    this.#stop = stop;
    const delta = { ...stopFields(stop), ...this.#containerField() };
    return [{ type: "message_delta", delta, usage: usageObject(this.#usage) }, { type: "message_stop" }];
  }

  #beginTurn(): void {
    [this.#text, this.#thought, this.#turn] = [undefined, undefined, this.#content.count];
  }

  /** Ends the text; thoughts wait for their signature. */
  #endText(): StreamEvent[] {
    const ended = this.#text === undefined ? [] : this.#content.end(this.#text);
    this.#text = undefined;
    return ended;
  }

  #endGrowing(): StreamEvent[] {
    this.#thought = undefined;
    return this.#endText();
  }

  #containerField(): object {
    return this.#container === undefined ? {} : { container: { id: this.#container, expires_at: null } };
  }

  #head(content: readonly Block[], stop: Stop | undefined): object {
    const { id, model } = this.#options;
    return {
      ...{ id, type: "message", role: "assistant", model, content },
      ...stopFields(stop),
      ...this.#containerField(),
      usage: usageObject(this.#usage),
    };
  }
}

/** Why a response ended. */
interface Stop {
  readonly reason: string;
  readonly sequence?: string;
  readonly details?: object;
}

function stopFields(stop: Stop | undefined): object {
  return {
    stop_reason: stop?.reason ?? null,
    stop_sequence: stop?.sequence ?? null,
    stop_details: stop?.details ?? null,
  };
}

const emptyThought: Block = { type: "thinking", thinking: "", signature: "" };

/** Returns the type of a call that Anthropic runs, whose ids have a form of their own; undefined for other calls. */
function callTypeOf(id: string): string | undefined {
  return id.startsWith("srvtoolu_") ? "server_tool_use" : id.startsWith("mcptoolu_") ? "mcp_tool_use" : undefined;
}

/** A stream gives neighbouring texts as one. */
function joinTexts(blocks: readonly Block[]): Block[] {
  const joined: Block[] = [];
  for (const block of blocks) {
    const last = joined.at(-1);
    if (block.type === "text" && last?.type === "text") {
      joined[joined.length - 1] = { ...last, citations: [last.citations ?? [], block.citations ?? []].flat() };
    } else {
      joined.push(block);
    }
  }
  return joined;
}

/** Arguments that are no JSON object are put into one: clients expect an object. */
function inputOf(json: string): unknown {
  return parseObject(json) === undefined ? { rawInvalidInput: json } : parseExact(json);
}

/** Returns the usage. Anthropic counts cached input apart. */
function usageObject(usage: Usage | undefined): object {
  const cached = Number(usage?.cachedTokens ?? 0);
  return {
    input_tokens: Math.max(0, Number(usage?.promptTokens ?? 0) - cached),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: Number(usage?.completionTokens ?? 0),
  };
}
