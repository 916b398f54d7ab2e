// Detects a model that repeats the same tool call with the same arguments (Agent Runner document, "Loop Detection"). Calls are
// counted over the whole run. The intervention is sent as the results of the calls, because a provider refuses anything else
// between a call and its result.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import { fingerprintOf } from "./fingerprint.ts";

/** How often each call was made, by its fingerprint. Plain data that fits into a checkpoint. */
export type CallCounts = Readonly<Record<string, number>>;

/** The count at which the loop intervenes. */
const repetitionsMax = 3;

/** The new counts, and the interventions of the turn. */
export interface Repetitions {
  readonly counts: CallCounts;
  /** Intervention texts by the position of the call. When it is not empty, no tool of the turn runs. */
  readonly interventions: ReadonlyMap<number, string>;
}

/** Counts the calls of a turn. A call that reaches the maximum gets an intervention, and its count restarts at 0. */
export function countCalls(before: CallCounts, calls: readonly ToolCall[]): Repetitions {
  const counts: Record<string, number> = { ...before };
  const interventions = new Map<number, string>();
  for (const [position, call] of calls.entries()) {
    const key = fingerprintOf([call.name, canonical(call.arguments)]);
    const count = (counts[key] ?? 0) + 1;
    counts[key] = count % repetitionsMax;
    if (count === repetitionsMax) {
      interventions.set(position, interventionText(call.name));
    }
  }
  return { counts, interventions };
}

/** Returns the intervention text for a tool. */
export function interventionText(tool: string): string {
  return `LOOP DETECTED: Tool '${tool}' called ${repetitionsMax} times with same arguments. Try a different approach.`;
}

/** Returns the arguments with sorted keys: their order does not matter. Returns the text itself when it is invalid JSON. */
function canonical(json: string): unknown {
  try {
    return sortKeys(JSON.parse(json.trim() === "" ? "{}" : json));
  } catch {
    return { text: json };
  }
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sortKeys);
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
    return entries.map(([key, each]) => [key, sortKeys(each)]);
  }
  return value;
}
