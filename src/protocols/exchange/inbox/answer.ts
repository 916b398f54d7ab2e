// Where in a text the answer begins, as people bring back whole outboxes with the answer at their end, and nothing of an
// outbox may be executed: neither the examples of its instructions nor the files that it shows.

import { findLine } from "./lines.ts";
import { scanBlocks } from "./scan.ts";

/** 0 for a text that repeats no outbox; undefined for one that does and has no place where an answer clearly begins. */
export function findAnswer(text: string): number | undefined {
  let start = 0;
  // An answer may repeat another outbox.
  for (;;) {
    const protocol = findLine(text, "=== PROTOCOL ===", start);
    if (protocol === undefined) {
      // A second such line may come from a file that the outbox shows: what is behind the first would be part of that file.
      return start > 0 && findLine(text, promptLine, start) !== undefined ? undefined : start;
    }
    const prompt = isInBlock(text, start, protocol.start) ? undefined : findLine(text, promptLine, protocol.next);
    if (prompt === undefined) {
      return undefined;
    }
    start = prompt.next;
  }
}

/** Whether the line at `at` is text inside a block, such as a file that is to be created. */
export function isInBlock(text: string, start: number, at: number): boolean {
  return scanBlocks(text.slice(start, at)).isOpen;
}

const promptLine = "=== PROMPT ===";
