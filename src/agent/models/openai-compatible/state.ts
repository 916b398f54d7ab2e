// The state that Chat Completions servers want back with a response: thoughts that led to calls, where they are named
// `reasoning_content`; `reasoning_details` as gateways send them; and a call's `extra_content` (signatures of other providers).

import { asRecord } from "../wire/frame.ts";

/** The thoughts and extra data of a response. */
export interface ChatState {
  readonly thoughts: string | undefined;
  /** `extra_content` by the id of its call. */
  readonly extras: ReadonlyMap<string, unknown>;
  /** `reasoning_details`, complete. */
  readonly details: readonly unknown[];
}

const none: ChatState = { thoughts: undefined, extras: new Map(), details: [] };
/** Distinguishes these states from those of the same account's other format. */
const kind = "chat";

/** Returns the state as JSON text, or undefined when there is nothing to send back. */
export function writeState(provider: string, { thoughts, extras, details }: ChatState): string | undefined {
  if (thoughts === undefined && extras.size === 0 && details.length === 0) {
    return undefined;
  }
  const kept = { thoughts, extras: Object.fromEntries(extras), ...(details.length > 0 && { details }) };
  return JSON.stringify({ provider, kind, ...kept });
}

/** Reads a state. Returns an empty state for text of another provider or format, or invalid text. */
export function readState(provider: string, state: string | undefined): ChatState {
  if (state === undefined) {
    return none;
  }
  try {
    const { provider: owner, kind: format, thoughts, extras, details } = asRecord(JSON.parse(state));
    return owner === provider && format === kind
      ? {
          thoughts: typeof thoughts === "string" ? thoughts : undefined,
          extras: new Map(Object.entries(asRecord(extras))),
          details: Array.isArray(details) ? details : [],
        }
      : none;
  } catch {
    return none;
  }
}

/** Texts of a detail that arrive in pieces. All other members are whole. */
const pieceKeys = ["text", "summary", "data"] as const;

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
