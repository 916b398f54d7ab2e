// Why a call came to nothing, in words for the agent that asked for it.

export class ChainFailure extends Error {
  override readonly name = "ChainFailure";
}

const shownCharsMax = 80;

/** What was given, short enough for a message. */
export function show(value: unknown): string {
  const text = typeof value === "bigint" ? String(value) : (stringify(value) ?? String(value));
  return text.length <= shownCharsMax ? text : `${text.slice(0, shownCharsMax)}…`;
}

/** Undefined for what JSON has no word for, or no end. */
function stringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return "[no JSON]";
  }
}

const reasonCharsMax = 300;

/** What a contract or a node says is theirs: one line of it, and not all of it. */
export function quote(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return line.length <= reasonCharsMax ? line : `${line.slice(0, reasonCharsMax)}…`;
}
