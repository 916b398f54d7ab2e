// The answer of a run so far, as plain data that a page keeps over a reload. It is a fold of the log: entries in their order, each
// once. A part that a later entry makes void is removed.

import type { ApprovalRequested, Entry, Json, Message } from "./entry.ts";

/** A longer input or result of a tool is cut: it makes a page slow, and leaves a tab no room for the history. */
const jsonMaxChars = 20_000;

export interface Answer {
  /** Sequence of the last entry that it holds. */
  cursor: number;
  /** Sequence of the entry that ended the last whole message. */
  messageEnd: number;
  parts: Part[];
  /** What persons have to decide before the run continues. */
  approvals: ApprovalRequested[];
  /** Whether the run is parked. */
  isParked: boolean;
  end?: End;
}

/** Texts of one message in a row, or a call of a tool. */
export type Part = TextPart | ToolPart;

export interface TextPart {
  readonly kind: "text";
  pieces: { readonly sequence: number; readonly text: string }[];
}

export interface ToolPart {
  readonly kind: "tool";
  readonly sequence: number;
  readonly id: string;
  readonly name: string;
  /** The input as text, JSON in most cases. */
  readonly input: string;
  state: "running" | "done" | "failed";
  /** The result, or why the call failed. */
  result: string;
}

/** How an answer ended. */
export type End = "completed" | "stopped" | "busy" | "too-long" | "refused" | "failed" | "unread";

export function emptyAnswer(): Answer {
  return { cursor: 0, messageEnd: 0, parts: [], approvals: [], isParked: false };
}

export function textOf({ pieces }: TextPart): string {
  return pieces.map(({ text }) => text).join("");
}

function endOfText({ pieces }: TextPart): number {
  return pieces.at(-1)?.sequence ?? 0;
}

/** Takes the next entry. */
export function takeEntry(answer: Answer, entry: Entry): void {
  const { sequence } = entry;
  answer.cursor = sequence;
  answer.isParked = entry.run_waiting !== undefined;
  if (!answer.isParked) {
    // A question without a call is over when the run goes on.
    answer.approvals = answer.approvals.filter((each) => each.tool_call_id);
  }
  if (entry.message_delta !== undefined) {
    const { content = "", replaces_text = false } = entry.message_delta.chunk ?? {};
    if (replaces_text) {
      keepPieces(answer, (each) => each <= answer.messageEnd);
    }
    addText(answer, sequence, content);
  } else if (entry.message_completed !== undefined) {
    completeMessage(answer, sequence, entry.message_completed.message ?? {});
  } else if (entry.turn_restarted !== undefined) {
    restartTurn(answer, entry.turn_restarted.from_sequence ?? 0);
  } else if (entry.turn_started !== undefined) {
    answer.approvals = [];
  } else if (entry.tool_call_started !== undefined) {
    const { tool_call_id: id, tool_name: name, parameters } = entry.tool_call_started;
    answer.parts.push({ kind: "tool", sequence, id, name, input: print(parameters), state: "running", result: "" });
  } else if (entry.tool_call_completed !== undefined) {
    completeTool(answer, entry.tool_call_completed);
  } else if (entry.approval_requested !== undefined) {
    answer.approvals.push(entry.approval_requested);
  } else if (entry.run_completed !== undefined || entry.run_failed !== undefined) {
    answer.approvals = [];
    answer.end = entry.run_failed === undefined ? "completed" : endOf(entry.run_failed);
  }
}

function addText(answer: Answer, sequence: number, text: string): void {
  const last = answer.parts.at(-1);
  // A part of a message before stays as it is.
  if (last?.kind === "text" && endOfText(last) > answer.messageEnd) {
    last.pieces.push({ sequence, text });
  } else if (text !== "") {
    answer.parts.push({ kind: "text", pieces: [{ sequence, text }] });
  }
}

/** A runner may send a whole message without the pieces before it. */
function completeMessage(answer: Answer, sequence: number, { text, parts }: Message): void {
  const hasPieces = answer.parts.some((part) => part.kind === "text" && endOfText(part) > answer.messageEnd);
  if (!hasPieces) {
    addText(answer, sequence, text ?? parts?.elements?.map((each) => each.text ?? "").join("") ?? "");
  }
  answer.messageEnd = sequence;
}

function restartTurn(answer: Answer, fromSequence: number): void {
  keepPieces(answer, (sequence) => sequence < fromSequence);
  answer.parts = answer.parts.filter((part) => part.kind === "text" || part.sequence < fromSequence);
  answer.messageEnd = Math.max(0, ...answer.parts.map((part) => (part.kind === "text" ? endOfText(part) : 0)));
  answer.approvals = [];
}

function keepPieces(answer: Answer, isKept: (sequence: number) => boolean): void {
  for (const part of answer.parts) {
    if (part.kind === "text") {
      part.pieces = part.pieces.filter(({ sequence }) => isKept(sequence));
    }
  }
  answer.parts = answer.parts.filter((part) => part.kind === "tool" || part.pieces.length > 0);
}

function completeTool(
  answer: Answer,
  { tool_call_id: id, result, error }: NonNullable<Entry["tool_call_completed"]>,
): void {
  const part = answer.parts.find((each) => each.kind === "tool" && each.id === id);
  if (part?.kind === "tool") {
    part.state = error === undefined ? "done" : "failed";
    part.result = print(error ?? result);
  }
  answer.approvals = answer.approvals.filter((each) => each.tool_call_id !== id);
}

function print(value: Json): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return text.length > jsonMaxChars ? `${text.slice(0, jsonMaxChars)}…` : text;
}

const ends: Readonly<Record<string, End>> = {
  rate_limit: "busy",
  overloaded: "busy",
  timeout: "busy",
  unavailable: "busy",
  context_length: "too-long",
  content_filter: "refused",
};

function endOf({ code, model_error }: NonNullable<Entry["run_failed"]>): End {
  return code === "cancelled" ? "stopped" : (ends[model_error?.cause ?? ""] ?? "failed");
}
