// The end of the credential of a call, which ends the call's streams. The port sets it, and surfaces follow it.

import { type ContextValues, createContextKey } from "@connectrpc/connect";

const endKey = createContextKey<AbortSignal | undefined>(undefined, { description: "end of the caller's credential" });

/** Attaches the signal that aborts when the credential ends. Its reason is the error that the reader gets. */
export function setCredentialEnd(values: ContextValues, ended: AbortSignal): void {
  values.set(endKey, ended);
}

/** Returns a signal that aborts with the given one, and when the credential of the call ends. */
export function untilCredentialEnds(values: ContextValues, signal: AbortSignal): AbortSignal {
  const ended = values.get(endKey);
  return ended === undefined ? signal : AbortSignal.any([signal, ended]);
}
