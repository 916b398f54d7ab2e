// The state that Chat Completions servers want back with a response. It holds thoughts that led to calls, where they are named
// `reasoning_content`, and a call's `extra_content` (signatures, behind gateways to other providers).

import { asRecord } from "../wire/frame.ts";

/** The thoughts and extra data of a response. */
export interface ChatState {
  readonly thoughts: string | undefined;
  /** `extra_content` by the id of its call. */
  readonly extras: ReadonlyMap<string, unknown>;
}

const none: ChatState = { thoughts: undefined, extras: new Map() };
/** Distinguishes these states from those of the same account's other format. */
const kind = "chat";

/** Returns the state as JSON text, or undefined when there is nothing to send back. */
export function writeState(provider: string, { thoughts, extras }: ChatState): string | undefined {
  if (thoughts === undefined && extras.size === 0) {
    return undefined;
  }
  return JSON.stringify({ provider, kind, thoughts, extras: Object.fromEntries(extras) });
}

/** Reads a state. Returns an empty state for text of another provider or format, or invalid text. */
export function readState(provider: string, state: string | undefined): ChatState {
  if (state === undefined) {
    return none;
  }
  try {
    const { provider: owner, kind: format, thoughts, extras } = asRecord(JSON.parse(state));
    return owner === provider && format === kind
      ? {
          thoughts: typeof thoughts === "string" ? thoughts : undefined,
          extras: new Map(Object.entries(asRecord(extras))),
        }
      : none;
  } catch {
    return none;
  }
}
