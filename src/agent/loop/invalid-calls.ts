// Ends a run whose model repeats calls that no tool can take: of unknown tools, or with invalid arguments. Each such call gets an
// error that says what would be valid. A model that repeats the call does not read the error.

import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import { parseArguments } from "../tools/arguments.ts";
import type { Tool } from "../tools/tool.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** The invalid calls of a run so far. Plain data that fits into a checkpoint. */
export interface InvalidCalls {
  /** How many responses made each, by its fingerprint. */
  readonly counts: Readonly<Record<string, number>>;
  /** The number of the latest responses in a row that made invalid calls alone, and of the repeated calls in them. */
  readonly turns: number;
  readonly repeats: number;
  /** Describes the latest one: `unknown tool: zap`. */
  readonly latest: string;
}

/** The state before any call. */
export const noInvalidCalls: InvalidCalls = { counts: {}, turns: 0, repeats: 0, latest: "" };

/** A call is made, and made again two more times. */
const sameCallsMax = 3;
/** The maximum number of requests to a model that makes nothing but invalid calls, some of them again. */
const invalidTurnsMax = 5;
/** A model chooses the names of unknown tools. */
const nameCharsMax = 64;

/** The failure code of a run that ends for this reason. */
export const invalidCallsCode = "runner.invalid_calls";

/** Counts the invalid calls of a response. Those that it makes more than once count once: it has read no error in between. */
export function countInvalid(before: InvalidCalls, calls: readonly ToolCall[], tools: readonly Tool[]): InvalidCalls {
  const invalid = calls.flatMap((call) => findInvalid(call, tools) ?? []);
  const counts = { ...before.counts };
  for (const fingerprint of new Set(invalid.map((each) => each.fingerprint))) {
    counts[fingerprint] = (counts[fingerprint] ?? 0) + 1;
  }
  const isStreak = calls.length > 0 && invalid.length === calls.length;
  const repeated = invalid.filter(({ fingerprint }) => (counts[fingerprint] ?? 0) > 1);
  return {
    counts,
    turns: isStreak ? before.turns + 1 : 0,
    repeats: isStreak ? before.repeats + repeated.length : 0,
    latest: invalid.at(-1)?.what ?? before.latest,
  };
}

/** Returns why the model is not asked again; undefined when it is. */
export function whyEnough(
  { counts, turns, repeats, latest }: InvalidCalls,
  tools: readonly Tool[],
): string | undefined {
  const isEnough =
    Object.values(counts).some((count) => count >= sameCallsMax) || (repeats > 0 && turns >= invalidTurnsMax);
  return isEnough ? `the model repeats invalid calls: ${latest}; ${describeTools(tools)}` : undefined;
}

/** Lists the tools of an agent for a model or a person: `this agent has the tools bash, read_file`. */
export function describeTools(tools: readonly Pick<Tool, "name">[]): string {
  const names = tools.map(({ name }) => name).join(", ");
  return names === "" ? "this agent has no tools" : `this agent has the tools ${names}`;
}

function findInvalid({ name, arguments: json }: ToolCall, tools: readonly Tool[]) {
  const shown = name.slice(0, nameCharsMax).toWellFormed();
  if (!tools.some((tool) => tool.name === name)) {
    return { what: `unknown tool: ${shown}`, fingerprint: fingerprintOf([name]) };
  }
  return "error" in parseArguments(json)
    ? { what: `invalid arguments for ${shown}`, fingerprint: fingerprintOf([name, json]) }
    : undefined;
}
