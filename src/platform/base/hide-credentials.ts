// Texts that look like a credential.

/** Takes the place of a hidden text. */
export const redacted = "[redacted]";

/**
 * Matches provider keys, our own keys and tickets, bearer tokens, and the user part of URLs. Each part is bounded or consumes
 * its match, so that a hostile text costs no more than any long one.
 */
const patterns =
  /\b(?:sk-|r[kt]_(?:[a-z0-9]{1,16}\.)?)[\w-]{16,}|\brrun_[\w.-]{16,}|(?<=\bbearer(?:%20|\+| ){1,4})[\w.~+/=-]{8,}|(?<=:\/\/)[^\s/?#@"'<>\\]{1,512}@/gi;

/** Replaces what looks like a credential in a text. */
export function hideCredentials(text: string): string {
  return text.replace(patterns, (match) => (match.endsWith("@") ? `${redacted}@` : redacted));
}
