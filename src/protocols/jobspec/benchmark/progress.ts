// Where a run stands: the ends of its answers so far, whose texts are in the transcript, and what they have used.

import type { UsageTotals } from "../../../agent/budget/usage.ts";
import type { RunContext } from "../../../engine/runs/driver.ts";
import { type Answer, textOf } from "./output.ts";

export interface Progress {
  readonly answers: readonly Answer[];
  readonly usage: UsageTotals;
}

/** What a checkpoint holds beside the number of answers. */
interface State {
  readonly usage: UsageTotals;
  readonly finishReasons: readonly string[];
}

/** The transcript has each question and its answer in turn. */
export function readProgress({ checkpoint, transcript }: RunContext): Progress {
  if (checkpoint === undefined) {
    return { answers: [], usage: {} };
  }
  const { usage, finishReasons }: State = JSON.parse(Buffer.from(checkpoint.state).toString());
  const answers = finishReasons.map((finishReason, index) => ({
    text: textOf(transcript[2 * index + 1]),
    finishReason,
  }));
  return { answers, usage };
}

export function checkpointOf({ answers, usage }: Progress): { turn: number; state: Uint8Array } {
  const state: State = { usage, finishReasons: answers.map(({ finishReason }) => finishReason) };
  return { turn: answers.length, state: Buffer.from(JSON.stringify(state)) };
}
