// What a status callback says: the body that the Agent Runner document gives, its keys in that order, and ours after them.

import { clientIdOf } from "../../platform/auth/caller.ts";
import { terminalToProto } from "../sessions/to-proto.ts";
import type { DueCallback } from "../storage/callback.ts";

/** The same at every attempt, but for texts that were purged meanwhile. What is empty or 0 is left out, as documented. */
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

/** The document's receivers get these as escapes, as from every JSON of its service. */
function escapeMarkup(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
