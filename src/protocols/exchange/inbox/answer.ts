// Finds the start of the answer in a text. People bring back whole outboxes with the answer at their end, and nothing of an
// outbox may be executed: neither the examples of its instructions nor the files that it shows.

import { findLine } from "./lines.ts";
import { scanBlocks } from "./scan.ts";

/**
 * Returns the offset of the answer; 0 for a text that repeats no outbox.
 * Returns undefined when the text repeats an outbox and the start of the answer is not clear.
 */
export function findAnswer(text: string): number | undefined {
  let start = 0;
  // An answer may repeat several outboxes.
  for (;;) {
    const protocol = findLine(text, "=== PROTOCOL ===", start);
    if (protocol === undefined) {
      // A second prompt line may come from a file that the outbox shows. Then the text after the first one would be part of
      // that file.
      return start > 0 && findLine(text, promptLine, start) !== undefined ? undefined : start;
    }
    const prompt = isInBlock(text, start, protocol.start) ? undefined : findLine(text, promptLine, protocol.next);
    if (prompt === undefined) {
      return undefined;
    }
    start = prompt.next;
  }
}

/** Returns whether the line at `at` is text inside a block, such as a file that is to be created. */
export function isInBlock(text: string, start: number, at: number): boolean {
  return scanBlocks(text.slice(start, at)).isOpen;
}

const promptLine = "=== PROMPT ===";
