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
import { isObject, parseObject } from "../platform/base/json/parse-object.ts";
import { type FileChange, printDiff } from "./diff.ts";
import { cut, shorten } from "./shorten.ts";

/** The length of a void text's opening that is shown, enough to find it. */
const openingCharsMax = 40;

/**
 * Creates a view that prints the results of one run, in order. A whole message is printed when its chunks were not, or when it
 * differs from them. With `isBegun` the reader has seen the beginning of the run elsewhere.
 */
export function createResultView({ isBegun }: { readonly isBegun: boolean }): (result: RunResult) => string {
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
  return ({ payload }) => {
    switch (payload.case) {
      case "messageDelta": {
        const { content = "", replacesText = false } = payload.value.chunk ?? {};
        [streamed, isCut] = replacesText ? [content, false] : [streamed + content, isCut];
        return replacesText ? `\n(the text starts over)\n${content}` : content;
      }
      case "messageCompleted": {
        const text = showMessage(textOf(payload.value.message));
        return text === "" ? "" : `${text}\n`;
      }
      case "turnRestarted": {
        const hint = showRestart(payload.value, streamed);
        [streamed, isCut] = ["", false];
        return hint;
      }
      case "runCompleted": {
        const text = textOf(payload.value.message);
        return `${text === "" || text === last ? "" : showMessage(text)}${showPayload(payload)}`;
      }
      default:
        return showPayload(payload);
    }
  };
}

/** Prints everything but text, on its own lines. */
function showPayload(payload: RunResult["payload"]): string {
  switch (payload.case) {
    case "toolCallStarted": {
      const { toolName, parameters, runByProvider } = payload.value;
      return `\n→ ${toolName}${runByProvider ? " (run by the provider)" : ""} ${shorten(parameters)}\n`;
    }
    case "toolCallCompleted":
      return payload.value.error === undefined
        ? showResult(payload.value.result ?? "")
        : `← failed: ${shorten(payload.value.error)}\n`;
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

/** Prints a result on one line. Changed files, as coding agents report them, follow as diffs. */
function showResult(json: string): string {
  const result = parseObject(json);
  const changes = Array.isArray(result?.diffs) ? result.diffs.flatMap(changeOf) : [];
  const { title } = result ?? {};
  return changes.length === 0
    ? `← ${shorten(json)}\n`
    : `← ${shorten(typeof title === "string" ? title : "")}\n${changes.map(printDiff).join("")}`;
}

function changeOf(value: unknown): readonly FileChange[] {
  const { path, old_text: oldText, new_text: newText } = isObject(value) ? value : {};
  return typeof path === "string" && typeof newText === "string"
    ? [{ path, oldText: typeof oldText === "string" ? oldText : undefined, newText }]
    : [];
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
