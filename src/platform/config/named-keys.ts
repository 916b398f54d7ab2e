// Parses lists of named secrets: `name=key`, one per line.

/** A secret and its name. */
export interface NamedKey {
  readonly name: string;
  readonly key: string;
}

/** The minimum length of a key: short keys can be guessed. */
export const keyCharsMin = 16;

/** Returns undefined when a line is invalid, so that a typing error cannot silently lock out a client. */
export function readNamedKeys(text: string): readonly NamedKey[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const keys = lines.map((line) => /^\s*([\x21-\x3c\x3e-\x7e]{1,128})=(\S+)\s*$/.exec(line));
  const read = keys.flatMap((match) => (match === null ? [] : [{ name: match[1] ?? "", key: match[2] ?? "" }]));
  return read.length === lines.length && read.every(({ key }) => key.length >= keyCharsMin) ? read : undefined;
}
