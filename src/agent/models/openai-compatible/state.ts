// The state that Chat Completions servers want back with a response: thoughts that led to calls, where they are named
// `reasoning_content`; `reasoning_details` as gateways send them; and a call's `extra_content` (signatures of other providers).

import type { ModelMessage, ModelToolCall } from "../model.ts";
import { asRecord } from "../wire/frame.ts";
import { isOfOtherModel, type Origin } from "../wire/origin.ts";
import { sameCalls } from "../wire/same-calls.ts";

/** The thoughts and extra data of a response. */
interface ChatState {
  readonly thoughts: string | undefined;
  /** `reasoning_details`, complete. */
  readonly details: readonly unknown[];
}

/** The state of a new response. */
export interface NewState extends ChatState {
  /** All calls, in order, with their `extra_content`. */
  readonly calls: readonly (Pick<ModelToolCall, "id" | "name"> & { readonly extra: unknown })[];
}

/** The state of a message. */
export interface KnownState extends ChatState {
  /** `extra_content` by the id of its call in the message. */
  readonly extras: ReadonlyMap<string, unknown>;
}

const none: KnownState = { thoughts: undefined, extras: new Map(), details: [] };
/** Distinguishes these states from those of the same account's other format. */
const kind = "chat";

/** Returns the state as JSON text, or undefined when there is nothing to send back. */
export function writeState({ provider, model }: Origin, { thoughts, calls, details }: NewState): string | undefined {
  const hasExtras = calls.some(({ extra }) => extra !== undefined);
  if (thoughts === undefined && !hasExtras && details.length === 0) {
    return undefined;
  }
  const extras = hasExtras ? calls.map(({ id, name, extra }) => ({ id, name, extra })) : undefined;
  return JSON.stringify({ provider, model, kind, thoughts, extras, ...(details.length > 0 && { details }) });
}

/**
 * Reads the state of a message. Returns an empty state for text of another provider or format, or invalid text. `reasoning_details`
 * and `extra_content` may be signed or encrypted, so another model of the account does not get them. `reasoning_content` is plain
 * text, which some servers require beside every call of a history.
 */
export function readState(
  origin: Origin,
  { state, toolCalls }: Extract<ModelMessage, { role: "assistant" }>,
): KnownState {
  if (state === undefined) {
    return none;
  }
  try {
    const { provider, model, kind: format, thoughts: text, extras, details } = asRecord(JSON.parse(state));
    if (provider !== origin.provider || format !== kind) {
      return none;
    }
    const thoughts = typeof text === "string" ? text : undefined;
    return isOfOtherModel(model, origin)
      ? { ...none, thoughts }
      : { thoughts, extras: extrasOf(extras, toolCalls), details: Array.isArray(details) ? details : [] };
  } catch {
    return none;
  }
}

function extrasOf(recorded: unknown, made: readonly ModelToolCall[]): Map<string, unknown> {
  const find = sameCalls(made);
  const extras = new Map<string, unknown>();
  for (const each of Array.isArray(recorded) ? recorded : []) {
    const { id, name, extra } = asRecord(each);
    const call = find({ id: String(id), name: String(name) });
    if (call !== undefined) {
      extras.set(call.id, extra);
    }
  }
  return extras;
}

/** Texts of a detail that arrive in pieces. All other members are whole. */
const pieceKeys = ["text", "summary", "data"] as const;

/** Returns the text of the thoughts in the details of a delta; an empty text when they have none. Other thoughts are encrypted. */
export function thoughtsOf(details: unknown): string {
  const all = Array.isArray(details) ? details.map(asRecord) : [];
  const texts = all.map(({ type, text, summary }) => (type === "reasoning.summary" ? summary : text));
  return texts.filter((text) => typeof text === "string").join("");
}

/** Joins the pieces of `reasoning_details`: those of one type and index that follow each other are one detail. */
export class ReasoningDetails {
  readonly #details: Record<string, unknown>[] = [];

  /** Adds the details of a delta; any other value is skipped. */
  add(details: unknown): void {
    for (const detail of Array.isArray(details) ? details : []) {
      this.#addOne(asRecord(detail));
    }
  }

  /** Returns the details in the order of their beginnings. */
  all(): readonly unknown[] {
    return this.#details;
  }

  #addOne(piece: Readonly<Record<string, unknown>>): void {
    const latest = this.#details.at(-1);
    const continues =
      latest !== undefined && latest.type === piece.type && latest.index === piece.index && !isOther(latest, piece);
    if (!continues) {
      this.#details.push({ ...piece });
      return;
    }
    for (const [key, value] of Object.entries(piece)) {
      const isPiece = pieceKeys.some((each) => each === key) && typeof value === "string";
      const before = latest[key];
      latest[key] = isPiece && typeof before === "string" ? before + value : (value ?? before);
    }
  }
}

function isOther(
  { id: one }: Readonly<Record<string, unknown>>,
  { id: other }: Readonly<Record<string, unknown>>,
): boolean {
  return typeof one === "string" && typeof other === "string" && one !== other;
}
