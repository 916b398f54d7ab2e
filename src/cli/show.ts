// Results as people read them.

import type { RunResult } from "#gen/runnel/v1/result_pb.js";

const shownCharsMax = 160;

/** Text for people. Text of the model comes as it is; everything else on lines of its own. */
export function showResult({ payload }: RunResult): string {
  switch (payload.case) {
    case "messageDelta":
      return payload.value.chunk?.content ?? "";
    case "toolCallStarted":
      return `\n→ ${payload.value.toolName} ${shorten(payload.value.parameters)}\n`;
    case "toolCallCompleted":
      return payload.value.error === undefined
        ? `← ${shorten(payload.value.result ?? "")}\n`
        : `← failed: ${shorten(payload.value.error)}\n`;
    case "turnRestarted":
      return "\n(the turn starts again on another replica)\n";
    case "runWaiting":
      return `\n(waits: ${payload.value.reason})\n`;
    case "runCompleted":
      return `\n✓ completed in ${payload.value.turns} turns, ${payload.value.durationMs} ms\n`;
    case "runFailed":
      return `\n✗ ${payload.value.code}: ${payload.value.error}\n`;
    default:
      return "";
  }
}

/** One line, cut, without control characters that could act on a terminal. */
export function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
  return line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
}
