// Helpers that all frame readers share: finish reasons, usage figures, and values of unknown type.
// Providers change their frames: a value of another kind counts as missing here, and a `MemberReader` would refuse it.

import { memberOf } from "../../../platform/base/json/free.ts";
import { parseJson } from "../../../platform/base/json/parse-object.ts";
import { findJson, type JsonNode } from "../../../platform/base/json/text.ts";
import type { FinishReason, ModelUsage } from "../model.ts";

/** The end of a response as its frames describe it. */
export interface FrameFinish {
  /** `failed` for words that mean a problem at the provider. */
  readonly reason: FinishReason | "failed";
  /** The provider's own word, or its explanation of a refusal. */
  readonly word: string;
  /** The stop sequence that ended the response, of providers that name it. */
  readonly stopSequence?: string | undefined;
}

/** Returns whether data that is invalid JSON was a frame: half of one, or two in one line. A ping of a gateway is not. */
export function isLostFrame(data: string): boolean {
  return data.trimStart().startsWith("{");
}

/** Merges two usages. Later figures win; figures that are missing later keep their earlier value. */
export function mergeUsage(known: ModelUsage | undefined, newer: ModelUsage | undefined): ModelUsage | undefined {
  if (known === undefined || newer === undefined) {
    return newer ?? known;
  }
  return {
    promptTokens: newer.promptTokens ?? known.promptTokens,
    completionTokens: newer.completionTokens ?? known.completionTokens,
    totalTokens: newer.totalTokens ?? known.totalTokens,
    cachedTokens: newer.cachedTokens ?? known.cachedTokens,
    reasoningTokens: newer.reasoningTokens ?? known.reasoningTokens,
  };
}

/** Returns the value as a record, or an empty record when it is not an object. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Parses an event's data. Returns undefined for invalid JSON. */
export function readFrame(data: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(data);
  return value === undefined ? undefined : asRecord(value);
}

/** Returns the text, or an empty text for any other value. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns whether a value is a text or missing. */
export function isTextOrNothing(value: unknown): boolean {
  return typeof value === "string" || value === undefined || value === null;
}

/** Returns a token count, or undefined for any other value; undefined does not mean 0. */
export function asCount(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/**
 * A value inside a frame as it is written, such as the arguments of a call that are no text: JSON.parse would round their numbers.
 * The frame is parsed when a text is asked for, once for all of its values.
 */
export class WrittenValue {
  readonly #frame: string;
  readonly #find: () => JsonNode | undefined;
  #node: JsonNode | undefined;
  #isFound = false;

  constructor(frame: string, find: () => JsonNode | undefined = () => findJson(frame)) {
    this.#frame = frame;
    this.#find = find;
  }

  /** The length of the whole frame. */
  get frameChars(): number {
    return this.#frame.length;
  }

  /** Returns the member of an object or the item of an array. */
  at(step: string | number): WrittenValue {
    return new WrittenValue(this.#frame, () => {
      const node = this.#found();
      return typeof step === "string" ? memberOf(node, step) : node?.kind === "array" ? node.items[step] : undefined;
    });
  }

  /** Returns the text; undefined when the frame has no such value, or is too deep or too large for the parser. */
  text(): string | undefined {
    const node = this.#found();
    return node && this.#frame.slice(node.start, node.end);
  }

  #found(): JsonNode | undefined {
    if (!this.#isFound) {
      this.#node = this.#find();
      this.#isFound = true;
    }
    return this.#node;
  }
}
