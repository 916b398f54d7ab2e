// Parses the text of a model to its decision: the actions it wants, no actions, or an error.
// D1  The first decision with a valid action counts. The whole text and fenced blocks rank before JSON in prose, and strict
//     JSON ranks before repaired JSON. `furtherDecisions` counts the others.
// D2  A text that was cut off is an error; a part of it is never a decision.
// D3  Nothing is unwrapped or guessed: an object is a list of one, and an entry without action or community is dropped.

import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { type Candidate, type Scan, scanDecisions } from "./scan.ts";

/** The decision that a model's text holds. */
export interface Decision {
  /** All entries in order, including the invalid ones. */
  readonly actions: readonly Json[];
  /** The entries that name an action and a community. */
  readonly valid: readonly JsonObject[];
  readonly outcome: "execute" | "noop:plain-text" | "noop:empty-actions-array" | "error";
  /** Set when the outcome is an error. */
  readonly error?: DecisionError;
  /** True when the actions were read only after a repair. */
  readonly repaired: boolean;
  /** Distinct action types for the communication log; empty when the text needed a repair. */
  readonly strictActionTypes: readonly string[];
  /** The number of further decisions in the text, which are ignored. */
  readonly furtherDecisions: number;
}

/** The reason why a text holds no decision. */
export interface DecisionError {
  readonly message: string;
  readonly class: "Error" | "SyntaxError";
}

/** Options of `parseDecision`. */
export interface ParseOptions {
  /** True when the model was asked for `{"actions": […]}`: see `decisionFormat`. */
  readonly isWrapped?: boolean;
}

/** The maximum size of a model's text. Models answer in a few KB. */
export const decisionBytesMax = 1024 * 1024;

/** Parses a model's text. Every text gives a decision; the outcome of an unreadable one is `error`. */
export function parseDecision(output: string, options: ParseOptions = {}): Decision {
  if (output.length > decisionBytesMax || Buffer.byteLength(output) > decisionBytesMax) {
    return failed({ message: "LLM output is larger than 1 MiB", class: "Error" });
  }
  const text = dropThoughts(output.trim());
  if (text === undefined) {
    return failed(truncated);
  }
  if (text === "") {
    return failed({ message: "Empty LLM output", class: "Error" });
  }
  return decide(scanDecisions(text), options);
}

const truncated: DecisionError = { message: "truncated decision", class: "Error" };

const thoughtsOpening = /^<(think|thinking)>/i;

/** Drops the thoughts that begin the text, such as `<think>…</think>`. Returns undefined when the text ends inside them. */
function dropThoughts(text: string): string | undefined {
  const name = thoughtsOpening.exec(text)?.[1];
  if (name === undefined) {
    return text;
  }
  const closing = new RegExp(`</${name}>`, "i").exec(text);
  return closing === null ? undefined : text.slice(closing.index + closing[0].length).trim();
}

function decide(scan: Scan, { isWrapped = false }: ParseOptions): Decision {
  if (scan.isExhausted) {
    return failed({ message: "LLM output has too many brackets to parse", class: "Error" });
  }
  if (scan.isCut) {
    return failed(truncated);
  }
  const read = scan.candidates.map((candidate) => readCandidate(candidate, isWrapped)).sort(compareRank);
  const first = read.find(({ valid }) => valid.length > 0);
  if (first !== undefined) {
    const decisions = read.filter(({ valid }) => valid.length > 0).length;
    return { ...decisionOf(first), outcome: "execute", furtherDecisions: decisions - 1 };
  }
  if (scan.problem?.isCut === true) {
    return failed(truncated);
  }
  return decideNothing(read[0], scan);
}

function decideNothing(read: ReadCandidate | undefined, { problem }: Scan): Decision {
  if (read === undefined) {
    return problem === undefined
      ? { ...nothing, outcome: "noop:plain-text" }
      : failed({ message: problem.message, class: "SyntaxError" });
  }
  if (read.actions.length === 0) {
    return { ...decisionOf(read), outcome: "noop:empty-actions-array" };
  }
  const error: DecisionError = { message: "LLM decision does not include valid actions", class: "Error" };
  return { ...decisionOf(read), outcome: "error", error };
}

interface ReadCandidate extends Candidate {
  readonly actions: readonly Json[];
  readonly valid: readonly JsonObject[];
}

function readCandidate(candidate: Candidate, isWrapped: boolean): ReadCandidate {
  const value = isWrapped ? unwrap(candidate.value) : candidate.value;
  const actions: readonly Json[] = Array.isArray(value) ? value : [value];
  return { ...candidate, actions, valid: actions.filter(isValid) };
}

function unwrap(value: Json): Json {
  const isWrapper = isJsonObject(value) && Object.keys(value).length === 1 && Array.isArray(value.actions);
  return isWrapper ? (value.actions ?? null) : value;
}

function isValid(entry: Json): entry is JsonObject {
  return isJsonObject(entry) && Boolean(entry.action) && Boolean(entry.communitySlug);
}

/** Orders candidates by rank. Sorting is stable, so equal ones keep the order of the text. */
function compareRank(a: Candidate, b: Candidate): number {
  return rankOf(a) - rankOf(b);
}

function rankOf({ isBlock, isRepaired }: Candidate): number {
  return (isBlock ? 0 : 2) + (isRepaired ? 1 : 0);
}

function decisionOf({ actions, valid, isRepaired }: ReadCandidate): Omit<Decision, "outcome"> {
  const strictActionTypes = isRepaired ? [] : actionTypesOf(actions);
  return { actions, valid, repaired: isRepaired, strictActionTypes, furtherDecisions: 0 };
}

function actionTypesOf(actions: readonly Json[]): string[] {
  const types = actions.map((each) =>
    isJsonObject(each) && typeof each.action === "string" ? each.action.trim() : "",
  );
  return [...new Set(types)].filter((type) => type !== "");
}

const nothing = { actions: [], valid: [], repaired: false, strictActionTypes: [], furtherDecisions: 0 } as const;

function failed(error: DecisionError): Decision {
  return { ...nothing, outcome: "error", error };
}
