// What a model wants back with its answer, as callers keep it: blocks that they return unchanged.
//
// Claude's own blocks are the same here and at Anthropic: thoughts with signatures, searches, citations. For a model of another maker,
// and for an answer whose blocks a stream could not give in their order, the state is an opaque text in place of a signature.
//
// S1  The state of an answer comes back whole or not at all.

import { parseExact } from "../../platform/base/json/exact.ts";
import { isObject, parseBoundedObject } from "../../platform/base/json/parse-object.ts";

/** A block of an answer or of a request. */
export interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

const prefix = "runnel1.";

/** Returns a state as an opaque text. */
export function sealState(state: string): string {
  return `${prefix}${Buffer.from(state).toString("base64url")}`;
}

/** Returns the state in an opaque text; undefined for another text. */
export function openState(text: unknown): string | undefined {
  if (typeof text !== "string" || !text.startsWith(prefix)) {
    return undefined;
  }
  const state = Buffer.from(text.slice(prefix.length), "base64url").toString();
  return parseBoundedObject(state) === undefined ? undefined : state;
}

/** The blocks of Claude in a state, and the container of its programs. */
export interface NativeState {
  readonly blocks: readonly Block[];
  readonly container: string | undefined;
}

/** Returns the blocks of a state of Claude; undefined for the state of another model. */
export function readNative(state: string): NativeState | undefined {
  const { container, blocks, ...origin } = parseExact(state) as Readonly<Record<string, unknown>>;
  if (origin.provider !== provider || origin.kind !== kind || !Array.isArray(blocks)) {
    return undefined;
  }
  return { blocks: blocks.filter(isBlock), container: typeof container === "string" ? container : undefined };
}

function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value.type === "string";
}

/** Returns the state of an answer of Claude with these blocks. */
export function writeNative(model: string, blocks: readonly Block[]): string {
  return JSON.stringify({ provider, model, kind, blocks });
}

const provider = "anthropic";
const kind = "messages";

/** Returns whether a model is of Anthropic, by its name. */
export function isClaude(model: string): boolean {
  return model.startsWith("claude-") || model.startsWith(`${provider}:`);
}

/** Returns Anthropic's name of a model. */
export function nativeName(model: string): string {
  return model.startsWith(`${provider}:`) ? model.slice(provider.length + 1) : model;
}
