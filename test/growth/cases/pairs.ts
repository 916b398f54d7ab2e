// Every reader with every input.

import type { GrowthCase } from "../growth.ts";
import type { MakeText } from "../inputs.ts";

/** Returns a case for each reader with each input. */
export function pairs(
  inputs: Readonly<Record<string, MakeText>>,
  readers: Readonly<Record<string, (text: string) => unknown>>,
): GrowthCase[] {
  return Object.entries(readers).flatMap(([reader, read]) =>
    Object.entries(inputs).map(([input, make]) => ({
      reader,
      input,
      prepare: (size: number) => {
        const text = flat(make(size));
        return () => read(text);
      },
    })),
  );
}

/** Returns the text as the network would give it: in one piece. */
export function flat(text: string): string {
  return Buffer.from(text, "utf16le").toString("utf16le");
}
