// The body of a status callback: the keys of the Agent Runner document in its order, then Runnel's own keys.

import { clientIdOf } from "../../platform/auth/caller.ts";
import { terminalToProto } from "../sessions/to-proto.ts";
import type { DueCallback } from "../storage/callback.ts";

/**
 * Returns the body as JSON. It is the same at every attempt, except for texts that were purged meanwhile. Empty values and 0
 * are left out, as documented.
 */
export function statusBody(callback: DueCallback): string {
  const { error, output, turns, durationMs } = callback.terminal === null ? {} : terminalToProto(callback.terminal);
  return escapeMarkup(
    JSON.stringify({
      session_id: callback.session_name,
      client_id: clientIdOf(callback.client),
      status: callback.status,
      error: error || undefined,
      output: output || undefined,
      turns: turns || undefined,
      duration_ms: Number(durationMs ?? 0) || undefined,
      run_id: callback.run_id ?? undefined,
      sequence: callback.sequence,
      callback_id: callback.id,
    }),
  );
}

/** Escapes these characters as the documented service does in all its JSON. */
function escapeMarkup(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
