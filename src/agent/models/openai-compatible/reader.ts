// Turns one Chat Completions response into ModelParts, event by event. No socket, no clock. Calls are held back until the
// response is complete. A line that is invalid JSON, an unknown member and an unknown type of content are skipped, unless a call
// may have lost a piece. A known member of unknown form is a failure, because it would lose a piece of the answer.

import type { ModelPart, ModelUsage } from "../model.ts";
import { Artifacts } from "../wire/artifacts.ts";
import { CallPieces } from "../wire/calls.ts";
import { Citations } from "../wire/citations.ts";
import { endResponse, finishOf } from "../wire/end.ts";
import { describeLostFrame, describeStreamError, describeUnreadable } from "../wire/failures.ts";
import {
  asRecord,
  type FrameFinish,
  isLostFrame,
  isTextOrNothing,
  mergeUsage,
  readFrame,
  textOf,
  WrittenValue,
} from "../wire/frame.ts";
import { addLogprobs, readLogprobs } from "../wire/logprobs.ts";
import type { Origin } from "../wire/origin.ts";
import { SkippedFrames } from "../wire/skipped.ts";
import type { ResponseReader } from "../wire/stream.ts";
import { readContent } from "./content.ts";
import { ExecutedTools } from "./executed-tools.ts";
import { readFinish, readUsage } from "./frames.ts";
import { ReasoningDetails, thoughtsOf, writeState } from "./state.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Reads the events of one response. */
export class ChatReader implements ResponseReader {
  readonly skipped = new SkippedFrames();
  readonly #provider: string;
  readonly #origin: Origin;
  readonly #calls = new CallPieces();
  readonly #details = new ReasoningDetails();
  readonly #citations = new Citations();
  readonly #artifacts = new Artifacts();
  readonly #executed = new ExecutedTools();
  /** The members of deltas that had a value. */
  readonly #members = new Set<string>();
  #finish: FrameFinish | undefined;
  #usage: ModelUsage | undefined;
  #refusal = "";
  #thoughts = "";
  #hasCounted = false;
  #hasSpoken = false;
  #hasLost = false;

  constructor(origin: Origin) {
    this.#provider = origin.provider;
    this.#origin = origin;
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
    const parts: ModelPart[] = [];
    const { choices, error } = frame;
    const choice = asRecord(Array.isArray(choices) ? choices[0] : undefined);
    this.#finish = readFinish(choice) ?? this.#finish;
    // A server that does not stream sends the whole message.
    const place = choice.delta === undefined || choice.delta === null ? "message" : "delta";
    const delta = place === "delta" ? this.#note(asRecord(choice.delta)) : this.#unsaid(asRecord(choice.message));
    this.#addDelta(delta, parts, () => new WrittenValue(data).at("choices").at(0).at(place));
    if (choice.logprobs !== undefined && choice.logprobs !== null) {
      addLogprobs(parts, readLogprobs(asRecord(choice.logprobs).content), { hasCalls: hasCalls(delta) });
    }
    this.#citations.add(delta.annotations);
    // Perplexity repeats its sources in each frame.
    this.#citations.add(frame.search_results ?? frame.citations);
    this.#count(frame, parts);
    if (error !== undefined && error !== null) {
      parts.push(describeStreamError(error));
    } else if (frame.object === "error") {
      parts.push(describeStreamError(frame));
    } else if (hasFailed(frame.base_resp)) {
      parts.push(describeStreamError({ message: asRecord(frame.base_resp).status_msg }));
    } else if (choices === undefined && parts.length === 0) {
      this.skipped.add("event", event ?? frame.type ?? frame.object);
    }
    this.#hasSpoken ||= parts.some(isSaid);
    return parts;
  }

  end(isMarked: boolean): readonly ModelPart[] {
    const whole = this.#calls.whole();
    if (whole === undefined) {
      return [
        this.#hasLost
          ? describeLostFrame(this.#provider)
          : describeUnreadable(this.#provider, "a tool call has no name"),
      ];
    }
    const calls = whole.map(({ extra: _kept, ...call }) => call);
    const thoughts = this.#thoughts !== "" && calls.length > 0 ? this.#thoughts : undefined;
    const hasAnswer = this.#hasSpoken || this.#refusal !== "" || calls.length > 0;
    const hasLost = this.#hasLost;
    const isMarkedWhole = isMarked && !hasLost && hasAnswer;
    const ended = endResponse({
      provider: this.#provider,
      finish: finishOf({ finish: this.#finish, isMarkedWhole, calls, hasLost }),
      calls,
      usage: this.#usage,
      refusal: this.#refusal,
      hasLost,
      hasBegunCall: calls.length > 0,
      citations: this.#citations.all(),
      state: writeState(this.#origin, { thoughts, calls: whole, details: this.#details.all() }),
    });
    return ended.at(-1)?.type === "finish" ? [...this.#executed.end(), ...ended] : ended;
  }

  #note(delta: Fields): Fields {
    for (const name in delta) {
      if (delta[name] !== null && delta[name] !== "") {
        this.#members.add(name);
      }
    }
    return delta;
  }

  /** Returns the members of a whole message that no delta has had. MiniMax ends a stream with all of its answer again. */
  #unsaid(message: Fields): Fields {
    return this.#members.size === 0
      ? message
      : Object.fromEntries(Object.entries(message).filter(([name]) => !this.#members.has(name)));
  }

  /** Groq sends its counts in a member of its own. They count where the standard member is missing. */
  #count({ usage: given, x_groq: own }: Fields, parts: ModelPart[]): void {
    const standard = readUsage(given);
    this.#hasCounted ||= standard !== undefined;
    const usage = this.#hasCounted ? standard : readUsage(asRecord(own).usage);
    if (usage !== undefined) {
      this.#usage = mergeUsage(this.#usage, usage) ?? usage;
      parts.push({ type: "usage", usage: this.#usage });
    }
  }

  #addDelta(delta: Fields, parts: ModelPart[], written: () => WrittenValue): void {
    const { content, refusal, reasoning_content: thought, reasoning, tool_calls: calls, function_call: old } = delta;
    if (
      ![thought ?? reasoning, refusal].every(isTextOrNothing) ||
      !(isTextOrNothing(content) || Array.isArray(content))
    ) {
      parts.push(this.#unknownForm());
      return;
    }
    const said = textOf(thought) || textOf(reasoning) || thoughtsOf(delta.reasoning_details);
    if (said !== "") {
      parts.push({ type: "reasoning", text: said });
    }
    // Servers that use the name `reasoning_content` require it in later requests. Those that say `reasoning` do not.
    this.#thoughts += textOf(thought);
    this.#details.add(delta.reasoning_details);
    parts.push(...this.#executed.add(delta.executed_tools, () => written().at("executed_tools")));
    parts.push(...readContent(content, this.skipped));
    this.#addImages(delta.images, parts);
    this.#refusal += textOf(refusal);
    if (Array.isArray(calls) && calls.length > 0) {
      const all = written().at("tool_calls");
      for (const [place, piece] of calls.entries()) {
        this.#addCall(asRecord(piece), parts, () => all.at(place).at("function").at("arguments"));
      }
    }
    if (typeof old === "object" && old !== null) {
      this.#addCall({ index: 0, function: old }, parts, () => written().at("function_call").at("arguments"));
    }
  }

  /** OpenRouter and LiteLLM give the images of a model so. */
  #addImages(images: unknown, parts: ModelPart[]): void {
    for (const image of Array.isArray(images) ? images : []) {
      const artifact = this.#artifacts.addUrl(asRecord(asRecord(image).image_url).url, { kind: "image" });
      if (artifact !== undefined) {
        parts.push(artifact);
      }
    }
  }

  #addCall(
    { id, index, function: named, extra_content: extra }: Fields,
    parts: ModelPart[],
    written: () => WrittenValue,
  ): void {
    const { name, arguments: given } = asRecord(named);
    const text = isTextOrNothing(given) ? textOf(given) : written().text();
    if (!isTextOrNothing(id) || !isTextOrNothing(name) || text === undefined) {
      parts.push(this.#unknownForm());
      return;
    }
    this.#calls.add({
      id: textOf(id),
      index: typeof index === "number" ? index : undefined,
      name: textOf(name),
      text,
      extra,
    });
    if (text !== "") {
      parts.push({ type: "call-piece", text });
    }
  }

  #unknownForm(): ModelPart {
    return describeUnreadable(this.#provider, "a frame has an unknown form");
  }
}

function isSaid(part: ModelPart): boolean {
  return part.type === "artifact" || ((part.type === "text" || part.type === "reasoning") && part.text !== "");
}

/** MiniMax says so in each frame, and has numbers of its own. */
function hasFailed(outcome: unknown): boolean {
  return Number(asRecord(outcome).status_code ?? 0) !== 0;
}

function hasCalls({ tool_calls: calls, function_call: old }: Fields): boolean {
  return (Array.isArray(calls) && calls.length > 0) || (typeof old === "object" && old !== null);
}

const nothing: readonly ModelPart[] = [];
