// Notices a model that calls the same tool with the same arguments again and again (Agent Runner document, "Loop
// Detection"). Counted over the whole run; the intervention is told inside the results of the calls, because a provider
// refuses anything else between a call and its result.

import { createHash } from "node:crypto";
import type { ToolCall } from "#gen/runnel/v1/message_pb.js";

/** How often each call was made, by fingerprint. Plain data, so that it fits into a checkpoint. */
export type CallCounts = Readonly<Record<string, number>>;

/** The third time is one too many. */
const repetitionsMax = 3;

export interface Repetitions {
  readonly counts: CallCounts;
  /** By the place of the call; empty while nothing has to be said. Otherwise no tool of the turn runs. */
  readonly interventions: ReadonlyMap<number, string>;
}

export function countCalls(before: CallCounts, calls: readonly ToolCall[]): Repetitions {
  const counts: Record<string, number> = { ...before };
  const interventions = new Map<number, string>();
  for (const [position, call] of calls.entries()) {
    const key = fingerprint(call);
    const count = (counts[key] ?? 0) + 1;
    counts[key] = count % repetitionsMax;
    if (count === repetitionsMax) {
      interventions.set(position, interventionText(call.name));
    }
  }
  return { counts, interventions };
}

export function interventionText(tool: string): string {
  return `LOOP DETECTED: Tool '${tool}' called ${repetitionsMax} times with same arguments. Try a different approach.`;
}

/** The same for the same call, in whatever order its arguments were written. */
function fingerprint({ name, arguments: json }: ToolCall): string {
  const text = JSON.stringify([name, canonical(json)]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 16);
}

/** What a model wrote may be no JSON at all: then its text is what counts. */
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
