// Prints results for people.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import {
  ModelError_Cause,
  PlanEntry_Status,
  type PlanUpdated,
  type RunFailed,
  type RunResult,
  type TurnRestarted,
} from "#gen/runnel/v1/result_pb.js";
import { cut, shorten } from "./shorten.ts";
import { createCallView } from "./show-calls.ts";

/** The length of a void text's opening that is shown, enough to find it. */
const openingCharsMax = 40;

/** How the text of a model is printed. */
export interface TextStyle {
  write(text: string): string;
  /** Ends a message, or what there is of it before something else is printed. */
  end(): string;
}

/** Prints text as it is. */
export const plainText: TextStyle = { write: (text) => text, end: () => "" };

/** Options of a view. */
export interface ResultViewOptions {
  /** True when the reader has seen the beginning of the run elsewhere. */
  readonly isBegun: boolean;
  /** Unset prints text as it is. */
  readonly style?: TextStyle;
}

/**
 * Creates a view that prints the results of one run, in order. A whole message is printed when its chunks were not, or when it
 * differs from them.
 */
export function createResultView({ isBegun, style = plainText }: ResultViewOptions): (result: RunResult) => string {
  const calls = createCallView();
  /** The text of chunks since the last whole message; without its beginning while `isCut`. */
  let streamed = "";
  let isCut = isBegun;
  let last: string | undefined;
  const showMessage = (text: string): string => {
    const isShown = isCut ? text.endsWith(streamed.trim()) : text.trim() === streamed.trim();
    const isOther = !isShown && streamed !== "";
    [streamed, isCut, last] = ["", false, text];
    return isShown ? "" : `${isOther ? "\n(the whole message differs from its chunks)\n" : ""}${text}`;
  };
  const write = (text: string): string => {
    if (text === "") {
      return "";
    }
    calls.interrupt();
    return style.write(text);
  };
  const writeLines = (lines: string): string => {
    if (lines === "") {
      return "";
    }
    calls.interrupt();
    return `${style.end()}${lines}`;
  };
  return ({ payload }) => {
    switch (payload.case) {
      case "messageDelta": {
        const { content = "", replacesText = false } = payload.value.chunk ?? {};
        [streamed, isCut] = replacesText ? [content, false] : [streamed + content, isCut];
        return `${replacesText ? writeLines("\n(the text starts over)\n") : ""}${write(content)}`;
      }
      case "messageCompleted": {
        const text = write(showMessage(textOf(payload.value.message)));
        return `${text}${style.end()}${text === "" ? "" : "\n"}`;
      }
      case "turnRestarted": {
        const hint = showRestart(payload.value, streamed);
        [streamed, isCut] = ["", false];
        return writeLines(hint);
      }
      case "toolCallStarted":
        return `${style.end()}${calls.start(payload.value)}`;
      case "toolCallCompleted":
        return `${style.end()}${calls.complete(payload.value)}`;
      case "runCompleted": {
        const text = textOf(payload.value.message);
        const rest = text === "" || text === last ? "" : showMessage(text);
        return `${write(rest)}${writeLines(showPayload(payload))}`;
      }
      default:
        return writeLines(showPayload(payload));
    }
  };
}

/** Prints everything but text and calls, on its own lines. */
function showPayload(payload: RunResult["payload"]): string {
  switch (payload.case) {
    case "actionRequested":
      return `\n→ asks for ${shorten(`${payload.value.action} ${payload.value.target ?? ""}`)}\n`;
    case "handoffCompleted":
      return `\n→ ${shorten(payload.value.toAgent)} has the conversation now\n`;
    case "contextCompacted":
      return `\n(${payload.value.messages} messages are now a summary: ${shorten(payload.value.summary)})\n`;
    case "planUpdated":
      return showPlan(payload.value);
    case "approvalRequested":
      return `(waits for an approval: runnel approvals show ${payload.value.approvalId})\n`;
    case "runWaiting":
      return `\n(waits: ${payload.value.reason})\n`;
    case "runCompleted":
      return `\n✓ completed in ${countTurns(payload.value.turns)}, ${payload.value.durationMs} ms\n`;
    case "runFailed":
      return `\n✗ ${payload.value.code}: ${payload.value.error}${describeCause(payload.value)}\n`;
    default:
      return "";
  }
}

/** Prints a line for each step. */
function showPlan({ entries }: PlanUpdated): string {
  const done = entries.filter(({ status }) => status === PlanEntry_Status.COMPLETED).length;
  const lines = entries.map(({ text, status }) => `  ${marks[status] ?? "·"} ${shorten(text)}\n`);
  return `\nplan: ${done} of ${entries.length} done\n${lines.join("")}`;
}

/** The marks of steps; a step that has not begun has a dot. */
const marks: Readonly<Partial<Record<PlanEntry_Status, string>>> = {
  [PlanEntry_Status.COMPLETED]: "✓",
  [PlanEntry_Status.IN_PROGRESS]: "→",
};

/** Returns why the model gave no response, such as ` (rate_limit)`; empty for every other failure. */
function describeCause({ modelError }: RunFailed): string {
  return modelError === undefined ? "" : ` (${ModelError_Cause[modelError.cause]?.toLowerCase()})`;
}

/** Says which text is void, because printed text cannot be taken back. */
function showRestart({ turn }: TurnRestarted, opening: string): string {
  const which = opening === "" ? "" : `, which begins with "${cut(opening, openingCharsMax)}"`;
  return `\n(turn ${turn} starts again on another replica: ignore its text above${which})\n`;
}

/** Returns the text of a message. */
export function textOf(message: Message | undefined): string {
  const { content } = message ?? {};
  return content?.case === "parts"
    ? content.value.elements.map(({ text = "" }) => text).join("")
    : (content?.value ?? "");
}

function countTurns(turns: number): string {
  return turns === 1 ? "1 turn" : `${turns} turns`;
}
