// Turns one response of the Responses format into ModelParts, event by event. No socket, no clock. Calls are held back until the
// response is complete. Unknown events and items are skipped; a piece of text in an unknown form is a failure, because the answer
// would lack it.

import type { ModelCitation, ModelLogprob, ModelPart, ModelToolCall, ModelUsage } from "../model.ts";
import { Citations } from "../wire/citations.ts";
import { endResponse, finishOf } from "../wire/end.ts";
import { describeApproval, describeLostFrame, describeStreamError, describeUnreadable } from "../wire/failures.ts";
import {
  asCount,
  asRecord,
  type FrameFinish,
  isLostFrame,
  isTextOrNothing,
  mergeUsage,
  readFrame,
  textOf,
} from "../wire/frame.ts";
import { readLogprobs } from "../wire/logprobs.ts";
import type { Origin } from "../wire/origin.ts";
import { SkippedFrames } from "../wire/skipped.ts";
import type { ResponseReader } from "../wire/stream.ts";
import { callsOf, isCall } from "./calls.ts";
import { readFinish, readUsage } from "./frames.ts";
import { type OutputItem, OutputItems, textOfMessage } from "./items.ts";
import {
  approvalType,
  finishedProviderCall,
  openProviderCall,
  ProviderCalls,
  type WaitingCall,
} from "./provider-calls.ts";
import { writeState } from "./state.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Reads the events of one response. */
export class ResponsesReader implements ResponseReader {
  readonly skipped = new SkippedFrames();
  readonly #provider: string;
  readonly #origin: Origin;
  readonly #offered: ReadonlySet<string>;
  readonly #items = new OutputItems();
  readonly #providerCalls: ProviderCalls;
  #finish: FrameFinish | undefined;
  #usage: ModelUsage | undefined;
  #refusal = "";
  #hasSpoken = false;
  #hasLost = false;

  /** `offered` has the names of the tools of the request. `earlier` are the programs of the turn that have no output yet. */
  constructor(origin: Origin, offered: ReadonlySet<string>, earlier: readonly WaitingCall[]) {
    this.#provider = origin.provider;
    this.#origin = origin;
    this.#offered = offered;
    this.#providerCalls = new ProviderCalls(earlier);
  }

  read(data: string, event?: string): readonly ModelPart[] {
    const frame = readFrame(data);
    if (event === "error") {
      return [describeStreamError(frame?.error ?? frame ?? data)];
    }
    if (frame === undefined) {
      this.#hasLost ||= this.#finish === undefined && isLostFrame(data);
      return nothing;
    }
    switch (frame.type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.reasoning_text.delta":
      case "response.reasoning_summary_text.delta":
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
      case "response.code_interpreter_call_code.delta":
      case "response.mcp_call_arguments.delta":
        return this.#readDelta(frame, frame.type);
      case "response.output_text.done":
        return this.#readTextEnd(frame);
      case "response.function_call_arguments.done":
        return this.#readWhole(frame, "response.function_call_arguments.delta", frame.arguments);
      case "response.custom_tool_call_input.done":
        return this.#readWhole(frame, "response.custom_tool_call_input.delta", frame.input);
      case "response.output_item.added":
        this.#items.begin(frame, data);
        return nothing;
      case "response.output_item.done": {
        const item = this.#items.complete(frame, data);
        return item === undefined ? nothing : [...this.#takeArtifacts(), ...this.#readItem(item)];
      }
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#readEnd(frame, data);
      default:
        return this.#readOther(frame);
    }
  }

  /** A server that marks the end without a last event has sent a whole response when every call in it is complete. */
  end(isMarked: boolean): readonly ModelPart[] {
    const items = this.#items.all();
    const waiting = items.find(({ type }) => type === approvalType);
    if (waiting !== undefined) {
      return [describeApproval(this.#provider, textOf(waiting.fields.name))];
    }
    const calls = items.flatMap((item) => this.#callsOf(item, items));
    if (calls.some(({ name }) => name === "")) {
      return [
        this.#hasLost
          ? describeLostFrame(this.#provider)
          : describeUnreadable(this.#provider, "a tool call has no name"),
      ];
    }
    const hasAnswer = this.#hasSpoken || this.#refusal !== "" || calls.length > 0;
    const hasLost = this.#hasLost;
    const isMarkedWhole = isMarked && !hasLost && hasAnswer && items.every((item) => item.isDone || !isCall(item));
    const finish = finishOf({ finish: this.#finish, isMarkedWhole, calls, hasLost });
    const parts = endResponse({
      provider: this.#provider,
      finish,
      calls,
      usage: this.#usage,
      refusal: this.#refusal,
      hasLost,
      hasBegunCall: calls.length > 0,
      citations: citationsOf(items),
      state: writeState(this.#origin, {
        items,
        callsOf: (item) => this.#callsOf(item, items),
        isCut: finish?.reason === "length",
      }),
    });
    const last = parts.at(-1);
    return last?.type === "finish" ? [...this.#endProviderCalls(items, last.reason === "tool-calls"), ...parts] : parts;
  }

  #readDelta(frame: Fields, type: keyof typeof pieces): readonly ModelPart[] {
    if (!isTextOrNothing(frame.delta)) {
      return [this.#unknownForm()];
    }
    const delta = textOf(frame.delta);
    const { of, part } = pieces[type];
    const logprobs = part === "text" ? readLogprobs(frame.logprobs) : undefined;
    if (delta === "" && logprobs === undefined) {
      return nothing;
    }
    const item = this.#items.addPiece(frame, of, part === "refusal" ? "refusal" : "text", delta);
    switch (part) {
      case "refusal":
        this.#refusal += delta;
        return nothing;
      case "text":
        if (logprobs !== undefined) {
          const place = placeOf(frame);
          item.logprobs.set(place, (item.logprobs.get(place) ?? 0) + logprobs.length);
        }
        return this.#say(delta, logprobs);
      default:
        return [{ type: part, text: delta }];
    }
  }

  /** Some servers give the text of an item at its end alone, and no pieces of it. */
  #readWhole(frame: Fields, type: keyof typeof pieces, whole: unknown): readonly ModelPart[] {
    const { text } = this.#items.itemOf(frame, pieces[type].of);
    return text === "" ? this.#readDelta({ ...frame, delta: whole }, type) : nothing;
  }

  /** Some servers give log probabilities at the end of a text alone. */
  #readTextEnd(frame: Fields): readonly ModelPart[] {
    const whole = this.#readWhole(frame, "response.output_text.delta", frame.text);
    if (whole.length > 0) {
      return whole;
    }
    const all = readLogprobs(frame.logprobs);
    return all === undefined ? nothing : this.#say("", newLogprobs(this.#items.itemOf(frame, "message"), frame, all));
  }

  #say(text: string, logprobs: readonly ModelLogprob[] | undefined): readonly ModelPart[] {
    this.#hasSpoken ||= text !== "";
    if (logprobs === undefined) {
      return text === "" ? nothing : [{ type: "text", text }];
    }
    return [{ type: "text", text, logprobs }];
  }

  #takeArtifacts(): readonly ModelPart[] {
    const artifacts = this.#items.takeArtifacts();
    this.#hasSpoken ||= artifacts.length > 0;
    return artifacts;
  }

  /** Returns what the pieces of a complete item have not said. */
  #readItem(item: OutputItem): readonly ModelPart[] {
    switch (item.type) {
      case "message":
        return this.#readMessage(item);
      case "reasoning":
        return item.text === ""
          ? [...textsOf(item.fields.summary), ...textsOf(item.fields.content)].map(reasoning)
          : nothing;
      case "function_call":
      case "custom_tool_call":
        return nothing;
      case "":
        this.skipped.add("item", "");
        return nothing;
      default:
        return this.#providerCalls.add(item);
    }
  }

  #readMessage(item: OutputItem): readonly ModelPart[] {
    if (item.refusal === "") {
      this.#refusal += textsOf(item.fields.content, "refusal").join("");
    }
    for (const part of asArray(item.fields.content)) {
      const { type } = asRecord(part);
      if (typeof part === "object" && !knownParts.has(type)) {
        this.skipped.add("part", type);
      }
    }
    const logprobs = asArray(item.fields.content).flatMap((part, content_index) => {
      const all = readLogprobs(asRecord(part).logprobs);
      return all === undefined ? [] : (newLogprobs(item, { content_index }, all) ?? []);
    });
    const rest = textOfMessage(item).slice(item.text.length);
    return this.#say(rest, logprobs.length === 0 ? undefined : logprobs);
  }

  #readEnd(frame: Fields, data: string): readonly ModelPart[] {
    const response = asRecord(frame.response);
    const parts: ModelPart[] = [];
    if (!this.#items.hasEvents) {
      const items = this.#items.completeAll(response.output, data);
      parts.push(...this.#takeArtifacts(), ...items.flatMap((item) => this.#readItem(item)));
    }
    this.#finish = readFinish(frame.type, response);
    const usage = readUsage(response.usage);
    if (usage !== undefined) {
      this.#usage = mergeUsage(this.#usage, usage) ?? usage;
      parts.push({ type: "usage", usage: this.#usage });
    }
    if (frame.type === "response.failed" && response.error !== undefined && response.error !== null) {
      parts.push(describeStreamError(response.error));
    }
    return parts;
  }

  /** Gateways send errors of their own shape. `choices` belongs to Chat Completions: such an answer would be lost unread. */
  #readOther(frame: Fields): readonly ModelPart[] {
    const { type, error, object, choices } = frame;
    if (error !== undefined && error !== null) {
      return [describeStreamError(error)];
    }
    if (type === "error" || object === "error") {
      return [describeStreamError(frame)];
    }
    if (Array.isArray(choices)) {
      return [this.#unknownForm()];
    }
    if (!isRepetition(type)) {
      this.skipped.add("event", type);
    }
    return nothing;
  }

  #callsOf(item: OutputItem, items: readonly OutputItem[]): readonly ModelToolCall[] {
    return isCall(item) && !this.#isRunByProvider(item, items) ? callsOf(item, this.#offered) : [];
  }

  /** A provider that continues with text after a call of a custom tool has run it. xAI's search of X is such a tool. */
  #isRunByProvider(item: OutputItem, items: readonly OutputItem[]): boolean {
    const isOwn = item.type === "custom_tool_call" && item.isDone && !this.#offered.has(String(item.fields.name));
    return (
      isOwn && items.slice(items.indexOf(item)).some((next) => next.type === "message" && textOfMessage(next) !== "")
    );
  }

  #endProviderCalls(items: readonly OutputItem[], goesOn: boolean): readonly ModelPart[] {
    const own = items.flatMap((item): ModelPart[] => {
      if (isCall(item)) {
        return this.#isRunByProvider(item, items) ? [finishedProviderCall(item)] : [];
      }
      return item.isDone || !item.type.endsWith("_call") ? [] : [openProviderCall(item)];
    });
    return [...this.#providerCalls.end(goesOn), ...own];
  }

  #unknownForm(): ModelPart {
    return describeUnreadable(this.#provider, "a frame has an unknown form");
  }
}

const nothing: readonly ModelPart[] = [];

/** The type of the item that each piece belongs to, and the part that it gives. */
const pieces = {
  "response.output_text.delta": { of: "message", part: "text" },
  "response.refusal.delta": { of: "message", part: "refusal" },
  "response.reasoning_text.delta": { of: "reasoning", part: "reasoning" },
  "response.reasoning_summary_text.delta": { of: "reasoning", part: "reasoning" },
  "response.function_call_arguments.delta": { of: "function_call", part: "call-piece" },
  "response.custom_tool_call_input.delta": { of: "custom_tool_call", part: "call-piece" },
  "response.code_interpreter_call_code.delta": { of: "code_interpreter_call", part: "call-piece" },
  "response.mcp_call_arguments.delta": { of: "mcp_call", part: "call-piece" },
} as const;

/** Types of the parts of a message. */
const knownParts: ReadonlySet<unknown> = new Set(["output_text", "text", "refusal"]);

/** Events that repeat what others say, or what the item says that they belong to. */
const repetitions: ReadonlySet<unknown> = new Set([
  "keepalive",
  "ping",
  "response.content_part.added",
  "response.content_part.done",
  "response.created",
  "response.code_interpreter_call_code.done",
  "response.in_progress",
  "response.mcp_call_arguments.done",
  "response.output_text.annotation.added",
  "response.queued",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.done",
  "response.reasoning_text.done",
  "response.refusal.done",
]);

/** Such as `response.web_search_call.searching`. */
function isRepetition(type: unknown): boolean {
  return (
    repetitions.has(type) || (typeof type === "string" && /^response\.(?:\w+_call|mcp_list_tools)\.\w+$/.test(type))
  );
}

/** Returns those of all log probabilities of a part that no earlier event has given; undefined for none. */
function newLogprobs(
  { logprobs: counts }: OutputItem,
  event: Fields,
  all: readonly ModelLogprob[],
): readonly ModelLogprob[] | undefined {
  const given = counts.get(placeOf(event)) ?? 0;
  counts.set(placeOf(event), Math.max(given, all.length));
  return given >= all.length ? undefined : all.slice(given);
}

/** Returns the place of a part in the content of its item. */
function placeOf({ content_index: place }: Fields): number {
  return asCount(place) ?? 0;
}

function citationsOf(items: readonly OutputItem[]): readonly ModelCitation[] | undefined {
  const citations = new Citations();
  for (const { type, fields } of items) {
    for (const part of type === "message" ? asArray(fields.content) : []) {
      citations.add(asRecord(part).annotations);
    }
  }
  return citations.all();
}

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function reasoning(text: string): ModelPart {
  return { type: "reasoning", text };
}

/** Returns the texts of a list of parts, without the empty ones. */
function textsOf(parts: unknown, member: "text" | "refusal" = "text"): readonly string[] {
  const texts = asArray(parts).map((part) => asRecord(part)[member]);
  return texts.filter((text): text is string => typeof text === "string" && text !== "");
}
