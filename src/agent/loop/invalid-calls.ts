// Ends a run whose model repeats calls that do not run: of unknown tools, with invalid arguments, or rejected by a person. Each such
// call gets an error that says why, and what would be valid. A model that repeats the call does not read the error.

import type { OpenToolCall } from "../../engine/runs/driver.ts";
import { parseArguments } from "../tools/arguments.ts";
import type { Tool } from "../tools/tool.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { sameCall } from "./repetition.ts";

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
export function countInvalid(
  before: InvalidCalls,
  calls: readonly OpenToolCall[],
  tools: readonly Tool[],
): InvalidCalls {
  const invalid = calls.flatMap((call) => findInvalid(call, tools, before) ?? []);
  const counts = withoutApproved(before, calls);
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

/** Returns the counts without those of calls that a person has approved after all. */
function withoutApproved({ counts }: InvalidCalls, calls: readonly OpenToolCall[]): Record<string, number> {
  const approved = calls.filter(({ approval }) => approval?.state === "approved" || approval?.state === "used");
  const cleared = new Set(approved.map(rejectionOf));
  return Object.fromEntries(Object.entries(counts).filter(([fingerprint]) => !cleared.has(fingerprint)));
}

function findInvalid(open: OpenToolCall, tools: readonly Tool[], before: InvalidCalls) {
  const { name, arguments: json } = open.call;
  const shown = name.slice(0, nameCharsMax).toWellFormed();
  if (!tools.some((tool) => tool.name === name)) {
    return { what: `unknown tool: ${shown}`, fingerprint: fingerprintOf([name]) };
  }
  if ("error" in parseArguments(json)) {
    return { what: `invalid arguments for ${shown}`, fingerprint: fingerprintOf([name, json]) };
  }
  return isRejected(open, before)
    ? { what: `a person has rejected this call of ${shown}`, fingerprint: rejectionOf(open) }
    : undefined;
}

/** A call that is repeated too often asks for no approval. It counts when a person has rejected it before. */
function isRejected(open: OpenToolCall, { counts }: InvalidCalls): boolean {
  const { approval } = open;
  return approval === undefined ? counts[rejectionOf(open)] !== undefined : approval.state === "rejected";
}

function rejectionOf({ call }: OpenToolCall): string {
  return fingerprintOf(["rejected", sameCall(call)]);
}
