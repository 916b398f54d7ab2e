// The progress of a run: its answers so far and their usage. The texts of the answers are in the transcript.

import type { UsageTotals } from "../../../agent/budget/usage.ts";
import type { RunContext } from "../../../engine/runs/driver.ts";
import { type Answer, textOf } from "./output.ts";

/** The answers of a run so far, and their usage. */
export interface Progress {
  readonly answers: readonly Answer[];
  readonly usage: UsageTotals;
}

/** The state of a checkpoint, beside the number of answers. */
interface State {
  readonly usage: UsageTotals;
  readonly finishReasons: readonly string[];
}

/** Reads the progress at the checkpoint. The transcript has each question followed by its answer. */
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

/** Makes the checkpoint of a progress. */
export function checkpointOf({ answers, usage }: Progress): { turn: number; state: Uint8Array } {
  const state: State = { usage, finishReasons: answers.map(({ finishReason }) => finishReason) };
  return { turn: answers.length, state: Buffer.from(JSON.stringify(state)) };
}
