// Reads an inbox: the blocks of a text in order of appearance, all else ignored (Inbox Format).
//
// P1  Any text gives a list; nothing throws.
// P2  A block with anything wrong is an error in its place and never a command, and neither is anything inside it.
// P3  A text that repeats the instructions gives one error and no command.
// P4  A line that only resembles a command changes nothing of the list but adds at most one error to its end.

import type { Command } from "../command.ts";
import { findAnswer } from "./answer.ts";
import { parseError } from "./make-command.ts";
import { type Scan, scanBlocks } from "./scan.ts";
import { commandNames } from "./tag.ts";

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

/** All commands in the order of the document, with the placeholders that stand there for numbers. */
function showsInstructions({ inOrder, hasPlaceholders }: Scan): boolean {
  return inOrder === commandNames.length && hasPlaceholders;
}

/** `wrong` is what would have been the answer and is no command. */
function makeEcho(wrong?: Command): Command {
  const detail = wrong?.type === "PARSE_ERROR" ? wrong.message : undefined;
  return parseError("inbox repeats the protocol instructions; nothing was executed", detail);
}
