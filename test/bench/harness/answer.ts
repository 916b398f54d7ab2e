// The text that the provider sends, known to both sides: plain words for throughput, or stamps that contain the time of their
// writing.

const words = ["stre", "am o", "f te", "xt, ", "four", " cha", "rs e", "ach "] as const;

/** Returns the delta with this index: four characters, about one token. */
export function wordAt(index: number): string {
  return words[index % words.length] ?? "";
}

export function wordsUpTo(deltas: number): string {
  return Array.from({ length: deltas }, (_, index) => wordAt(index)).join("");
}

export interface Stamp {
  readonly index: number;
  readonly ageMs: number;
}

/** Returns a delta that carries its index and the moment of its writing, in characters that no JSON escapes. */
export function writeStamp(index: number): string {
  return `(${index}@${nowUs()})`;
}

/** Returns the stamps in a text and their age now. Works only among processes of one machine. */
export function readStamps(text: string): Stamp[] {
  return Array.from(text.matchAll(/\((\d+)@(\d+)\)/g), ([, index, writtenUs]) => ({
    index: Number(index),
    ageMs: (nowUs() - Number(writtenUs)) / 1_000,
  }));
}

function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1_000);
}
