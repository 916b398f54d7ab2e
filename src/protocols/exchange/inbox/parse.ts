// Parses an inbox: the blocks of a text in order of appearance; all other text is ignored (Inbox Format).
//
// P1  Any text gives a list; nothing throws.
// P2  An invalid block is an error in its position and never a command, and neither is any text inside it.
// P3  A text that repeats the instructions gives one error and no command.
// P4  A line that only resembles a command changes no entry of the list; it adds at most one error to its end.

import type { Command } from "../command.ts";
import { findAnswer } from "./answer.ts";
import { parseError } from "./make-command.ts";
import { type Scan, scanBlocks } from "./scan.ts";
import { commandNames } from "./tag.ts";

/** Parses an inbox to its commands, such as `[READ_FILE path="a.ts"]`; see P1 to P4. */
export function parseInbox(text: string): readonly Command[] {
  const start = findAnswer(text);
  if (start === undefined) {
    return [makeEcho()];
  }
  const scan = scanBlocks(text, start);
  const { commands, nearMiss } = scan;
  if (showsInstructions(scan)) {
    return [makeEcho()];
  }
  if (start > 0 && commands.every(({ type }) => type === "PARSE_ERROR")) {
    return [makeEcho(commands[0])];
  }
  return nearMiss === undefined ? commands : [...commands, nearMiss];
}

/** Returns true for all commands in the order of the document, with its placeholders for numbers. */
function showsInstructions({ inOrder, hasPlaceholders }: Scan): boolean {
  return inOrder === commandNames.length && hasPlaceholders;
}

/** Makes the error of a repeated outbox. `wrong` is the parse error of the presumed answer. */
function makeEcho(wrong?: Command): Command {
  const detail = wrong?.type === "PARSE_ERROR" ? wrong.message : undefined;
  return parseError("inbox repeats the protocol instructions; nothing was executed", detail);
}
