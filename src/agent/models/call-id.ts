// Ids of calls that a provider left without one.

import { createHash } from "node:crypto";

/** Accepted by every provider that has a rule for ids, and too long to be guessed twice. */
const idChars = 24;

/**
 * Returns the id of a call without one: `call_` and 24 hexadecimal digits. `response` names the response among all responses of
 * the conversation, so that no two calls of a history have one id. The same response gives the same ids.
 */
export function callIdOf(response: readonly (string | number)[], place: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([...response, place]))
    .digest("hex");
  return `call_${digest.slice(0, idChars)}`;
}
