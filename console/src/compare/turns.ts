// The turns of a run as plain texts that can be compared: what the model said, and its tool calls with their results.

import type { Row } from "../../../src/platform/run-view/row.ts";

export interface Turn {
  readonly text: string;
  readonly calls: string;
}

/** More of a result says little about the difference of two runs. */
const resultCharsMax = 4_000;

/** Returns the turns of a log without void rows. Text before the first turn belongs to the first. */
export function turnsOf(rows: readonly Row[]): readonly Turn[] {
  const turns: { text: string[]; calls: string[] }[] = [];
  for (const { content, isVoid } of rows) {
    if (isVoid) {
      continue;
    }
    if (content.kind === "turn" || turns.length === 0) {
      turns.push({ text: [], calls: [] });
    }
    if (content.kind === "message" && content.role === "assistant") {
      turns.at(-1)?.text.push(content.text);
    } else if (content.kind === "tool") {
      turns.at(-1)?.calls.push(`${content.name} ${content.parameters}\n${outcomeOf(content)}`);
    }
  }
  return turns.map(({ text, calls }) => ({ text: text.join("\n\n"), calls: calls.join("\n\n") }));
}

/** Counts the tool calls of a log without those that are void. */
export function countCalls(rows: readonly Row[]): number {
  return rows.filter(({ content, isVoid }) => content.kind === "tool" && !isVoid).length;
}

function outcomeOf({ result, error }: { result: string | undefined; error: string | undefined }): string {
  const outcome = error === undefined || error === "" ? `→ ${result ?? ""}` : `→ error: ${error}`;
  return outcome.length > resultCharsMax ? `${outcome.slice(0, resultCharsMax)}…` : outcome;
}
