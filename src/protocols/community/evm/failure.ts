// The reason why a call failed, in words for the agent that asked for it.

/** A failed call; its message is for the agent. */
export class ChainFailure extends Error {
  override readonly name = "ChainFailure";
}

const shownCharsMax = 80;

/** Shows a value in a message, cut to 80 characters. */
export function show(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : (stringify(value) ?? String(value));
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`;
}

/**
 * Returns undefined for a value without JSON form, and `[no JSON]` for a value that JSON.stringify refuses, such as a cycle.
 */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return "[no JSON]";
  }
}

const reasonCharsMax = 300;

/** Quotes text of a contract or a node, which is untrusted: as one line of at most 300 characters. */
export function quote(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length <= reasonCharsMax ? line : `${line.slice(0, reasonCharsMax)}…`;
}
