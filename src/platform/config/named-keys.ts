// Lists of secrets by name: `name=key`, one a line.

export interface NamedKey {
  readonly name: string;
  readonly key: string;
}

/** Short keys can be guessed, and a line that is wrong must not quietly lock somebody out. */
export const keyCharsMin = 16;

/** Undefined when a line is wrong. */
export function readNamedKeys(text: string): readonly NamedKey[] | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  const keys = lines.map((line) => /^\s*([\x21-\x3c\x3e-\x7e]{1,128})=(\S+)\s*$/.exec(line));
  const read = keys.flatMap((match) => (match === null ? [] : [{ name: match[1] ?? "", key: match[2] ?? "" }]));
  return read.length === lines.length && read.every(({ key }) => key.length >= keyCharsMin) ? read : undefined;
}
