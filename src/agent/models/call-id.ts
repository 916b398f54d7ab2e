// Ids of calls and artifacts that a provider left without one.

import { createHash } from "node:crypto";

/** Accepted by every provider that has a rule for ids, and too long to be guessed twice. */
const idChars = 24;

/**
 * Returns the id of a call without one: `call_` and 24 hexadecimal digits. `response` names the response among all responses of
 * the conversation, so that no two calls of a history have one id. The same response gives the same ids.
 */
export function callIdOf(response: readonly (string | number)[], place: number): string {
  return `call_${digestOf([...response, place])}`;
}

/** Returns the id of an artifact without one, in the same way: `artifact_` and 24 hexadecimal digits. */
export function artifactIdOf(response: readonly (string | number)[], place: number): string {
  return `artifact_${digestOf([...response, "artifact", place])}`;
}

function digestOf(place: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(place)).digest("hex").slice(0, idChars);
}
