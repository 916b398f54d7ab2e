// What servers of this kind want back with a response: thoughts that led to calls, where they call them
// `reasoning_content`, and what came beside a call as `extra_content` (signatures, behind gateways to other providers).

import { asRecord } from "../wire/frame.ts";

export interface ChatState {
  readonly thoughts: string | undefined;
  /** By the id of the call. */
  readonly extras: ReadonlyMap<string, unknown>;
}

const none: ChatState = { thoughts: undefined, extras: new Map() };
/** Tells these states from those of the same account's other format. */
const kind = "chat";

/** Undefined when there is nothing to give back. */
export function writeState(provider: string, { thoughts, extras }: ChatState): string | undefined {
  if (thoughts === undefined && extras.size === 0) {
    return undefined;
  }
  return JSON.stringify({ provider, kind, thoughts, extras: Object.fromEntries(extras) });
}

/** Nothing for what another provider or format wrote. */
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
