// Turns one Chat Completions response into ModelParts, event by event. No socket, no clock. Calls are held back until the
// response is complete. A line that is invalid JSON is skipped; a valid frame of unknown form is a failure.

import type { ModelPart, ModelUsage } from "../model.ts";
import { endResponse } from "../wire/end.ts";
import { describeStreamError, describeUnreadable } from "../wire/failures.ts";
import { asRecord, type FrameFinish, mergeUsage } from "../wire/frame.ts";
import { CallPieces } from "./calls.ts";
import { readFinish, readUsage } from "./frames.ts";
import { writeState } from "./state.ts";

/** Reads the events of one response. */
export class ChatReader {
  readonly #provider: string;
  readonly #calls = new CallPieces();
  #finish: FrameFinish | undefined;
  #usage: ModelUsage | undefined;
  #refusal = "";
  #thoughts = "";

  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Returns the parts of one event. Do not call it again after a failure. */
  read(data: string): readonly ModelPart[] {
    const frame = parse(data);
    if (frame === undefined) {
      return nothing;
    }
    const parts: ModelPart[] = [];
    const { choices, error } = frame;
    const choice = asRecord(Array.isArray(choices) ? choices[0] : undefined);
    this.#finish = readFinish(choice.finish_reason) ?? this.#finish;
    this.#addDelta(asRecord(choice.delta), parts);
    const usage = readUsage(frame.usage);
    if (usage !== undefined) {
      this.#usage = mergeUsage(this.#usage, usage) ?? usage;
      parts.push({ type: "usage", usage: this.#usage });
    }
    if (error !== undefined && error !== null) {
      parts.push(describeStreamError(error));
    }
    return parts;
  }

  /** Ends the stream. Returns the calls and then exactly one finish or failure. */
  end(): readonly ModelPart[] {
    const calls = this.#calls.whole();
    if (calls === undefined) {
      return [describeUnreadable(this.#provider, "a tool call has no name")];
    }
    const extras = new Map(calls.flatMap(({ id, extra }) => (extra === undefined ? [] : [[id, extra] as const])));
    const thoughts = this.#thoughts !== "" && calls.length > 0 ? this.#thoughts : undefined;
    return endResponse({
      provider: this.#provider,
      finish: this.#finish,
      calls: calls.map(({ extra: _kept, ...call }) => ({ type: "tool-call", call })),
      usage: this.#usage,
      refusal: this.#refusal,
      state: writeState(this.#provider, { thoughts, extras }),
    });
  }

  #addDelta(delta: Readonly<Record<string, unknown>>, parts: ModelPart[]): void {
    const { content, refusal, reasoning_content: thought, reasoning, tool_calls: calls } = delta;
    const said = thought ?? reasoning;
    if (![content, refusal, said].every(isTextOrNothing)) {
      parts.push(this.#unknownForm());
      return;
    }
    if (said) {
      parts.push({ type: "reasoning", text: said as string });
      // Servers that use the name `reasoning_content` require it in later requests. Those that say `reasoning` do not.
      this.#thoughts += thought ? (thought as string) : "";
    }
    if (content) {
      parts.push({ type: "text", text: content as string });
    }
    this.#refusal += (refusal as string | null | undefined) ?? "";
    for (const piece of Array.isArray(calls) ? calls : []) {
      const text = this.#calls.add(piece);
      if (text === undefined) {
        parts.push(this.#unknownForm());
        return;
      }
      if (text !== "") {
        parts.push({ type: "call-piece", text });
      }
    }
  }

  #unknownForm(): ModelPart {
    return describeUnreadable(this.#provider, "a frame has an unknown form");
  }
}

const nothing: readonly ModelPart[] = [];

function parse(data: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(data));
  } catch {
    return undefined;
  }
}

function isTextOrNothing(value: unknown): boolean {
  return typeof value === "string" || value === undefined || value === null;
}
