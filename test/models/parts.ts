// What tests ask about the parts of a response.

import type { ModelPart, ModelToolCall } from "../../src/agent/models/model.ts";

export function textOf(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

export function callsOf(parts: readonly ModelPart[]): ModelToolCall[] {
  return parts.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
}

/** Returns what the provider wants back with the next request; undefined without it, and after a failure. */
export function stateOf(parts: readonly ModelPart[]): string | undefined {
  const last = parts.at(-1);
  return last?.type === "finish" ? last.state : undefined;
}
