// Detects a model that repeats the same tool call with the same arguments (Agent Runner document, "Loop Detection"). Calls are
// counted over the whole run. The intervention is sent as the results of the calls, because a provider refuses anything else
// between a call and its result.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import { type JsonNode, parseJsonText } from "../../platform/base/json/text.ts";
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
    const key = fingerprintOf(sameCall(call));
    const count = (counts[key] ?? 0) + 1;
    counts[key] = count % repetitionsMax;
    if (count === repetitionsMax) {
      interventions.set(position, interventionText(call.name));
    }
  }
  return { counts, interventions };
}

/** Returns a value that is equal for calls of one tool with the same arguments. */
export function sameCall({ name, arguments: json }: ToolCall): unknown {
  return [name, canonical(json)];
}

/** Returns the intervention text for a tool. */
export function interventionText(tool: string): string {
  return `LOOP DETECTED: Tool '${tool}' called ${repetitionsMax} times with same arguments. Try a different approach.`;
}

/**
 * Returns the arguments with sorted keys, because their order does not matter, and with exact numbers. Returns the text itself
 * when it is invalid JSON.
 */
function canonical(json: string): unknown {
  const text = json.trim() === "" ? "{}" : json;
  try {
    return canonicalOf(text, parseJsonText(text));
  } catch {
    return { text: json };
  }
}

function canonicalOf(text: string, node: JsonNode): unknown {
  switch (node.kind) {
    case "object": {
      // Of duplicate keys the last one counts, as for most parsers.
      const members = new Map(node.members.map(({ key, value }) => [key.value, value]));
      const sorted = [...members].toSorted(([one], [other]) => (one < other ? -1 : 1));
      return sorted.map(([key, value]) => [key, canonicalOf(text, value)]);
    }
    case "array":
      return node.items.map((item) => canonicalOf(text, item));
    case "string":
      return node.value;
    case "number":
      return canonicalNumber(text.slice(node.start, node.end));
    case "boolean":
    case "null":
      return JSON.parse(text.slice(node.start, node.end));
    default:
      return node satisfies never;
  }
}

/** Returns a number that JavaScript prints without loss, and the digits and the exponent of any other. */
function canonicalNumber(written: string): unknown {
  const exact = exactNumber(written);
  const rounded = Number(written);
  return exactNumber(String(rounded)) === exact ? rounded : { exact };
}

/** A longer exponent is no plausible number, and costs more than its length to read. */
const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,20}))?$/;

/** Returns the one form of all writings of a number: `100`, `1.0e2` and `1E+02` are `1e2`. */
function exactNumber(written: string): string {
  const match = decimal.exec(written);
  if (match === null) {
    return written;
  }
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = dropZerosAtEnd(digits);
  if (significant === "") {
    return "0";
  }
  const zeros = digits.length - significant.length;
  return `${sign}${significant}e${BigInt(exponent) + BigInt(zeros - fraction.length)}`;
}

/** A pattern such as `0+$` would try each zero of a long row anew. */
function dropZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") {
    end -= 1;
  }
  return digits.slice(0, end);
}
