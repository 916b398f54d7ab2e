// Results as people read them.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";

const shownCharsMax = 160;

/**
 * Shows the results of one run, in order. A whole message is shown where its pieces were not; of a run whose beginning was seen
 * elsewhere they were.
 */
export function createResultView({ isBegun }: { readonly isBegun: boolean }): (result: RunResult) => string {
  let [inPieces, hasSpoken] = [isBegun, isBegun];
  return ({ payload }) => {
    switch (payload.case) {
      case "messageDelta":
        [inPieces, hasSpoken] = [true, true];
        break;
      case "messageCompleted": {
        const text = inPieces ? "" : textOf(payload.value.message);
        inPieces = false;
        hasSpoken ||= text !== "";
        return text === "" ? "" : `${text}\n`;
      }
      case "runCompleted":
        return `${hasSpoken ? "" : textOf(payload.value.message)}${showPayload(payload)}`;
    }
    return showPayload(payload);
  };
}

/** Text of the model comes as it is; everything else on lines of its own. */
function showPayload(payload: RunResult["payload"]): string {
  switch (payload.case) {
    case "messageDelta":
      return payload.value.chunk?.content ?? "";
    case "toolCallStarted":
      return `\n→ ${payload.value.toolName} ${shorten(payload.value.parameters)}\n`;
    case "toolCallCompleted":
      return payload.value.error === undefined
        ? `← ${shorten(payload.value.result ?? "")}\n`
        : `← failed: ${shorten(payload.value.error)}\n`;
    case "actionRequested":
      return `\n→ asks for ${shorten(`${payload.value.action} ${payload.value.target ?? ""}`)}\n`;
    case "approvalRequested":
      return `(waits for an approval: runnel runners approval ${payload.value.approvalId})\n`;
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

function textOf(message: Message | undefined): string {
  const { content } = message ?? {};
  return content?.case === "parts"
    ? content.value.elements.map(({ text = "" }) => text).join("")
    : (content?.value ?? "");
}

/** One line, cut, without control characters that could act on a terminal. */
export function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
  return line.length > shownCharsMax ? `${line.slice(0, shownCharsMax)}…` : line;
}
