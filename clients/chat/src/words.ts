// The words that the widget shows. A site may replace each, for its language or its voice.

import type { Answer, End } from "./answer.ts";
import type { Activity } from "./conversation.ts";
import { ChatError } from "./error.ts";

export const english = {
  /** Names of parts, for screen readers. */
  conversation: "Conversation",
  visitor: "You",
  agent: "Answer",
  code: "Code",
  table: "Table",
  done: "done",
  toDo: "to do",
  /** The form. */
  message: "Message",
  placeholder: "Write a message",
  send: "Send",
  stop: "Stop",
  again: "Try again",
  /** What happens now. */
  working: "The answer is on its way…",
  stopping: "Stopping…",
  reconnecting: "The connection is lost. Trying again…",
  /** `{what}` is replaced by the names of the actions or tools. */
  approval: "A person has to allow this first: {what}",
  parked: "The answer waits for something else to finish.",
  /** Calls of tools. */
  toolRunning: "running",
  toolDone: "done",
  toolFailed: "failed",
  toolInput: "Input",
  toolResult: "Result",
  /** How an answer ended. */
  stopped: "The answer was stopped.",
  busy: "The model has too much to do. Try again in a moment.",
  tooLong: "The conversation has become too long for the model.",
  refused: "The model does not answer this.",
  failed: "Something went wrong, and the answer is not complete.",
  unread: "The answer could not be read.",
  /** What went wrong on the way. */
  notSent: "The message may not have arrived.",
  notRead: "The answer cannot be read right now.",
  notReady: "This chat is not ready: its page has to set `endpoint` and `backend`.",
};

export type Words = Readonly<typeof english>;

/** Returns what an answer says below its text; empty when the text says it all. */
export function noteOf({ end, approvals, isParked }: Answer, words: Words): string {
  if (end !== undefined) {
    return endWords(words)[end];
  }
  if (approvals.length > 0) {
    const names = approvals.map(({ action, tool_name }) => action || tool_name || "");
    return words.approval.replace("{what}", () => [...new Set(names)].join(", "));
  }
  return isParked ? words.parked : "";
}

function endWords(words: Words): Readonly<Record<End, string>> {
  const { stopped, busy, tooLong, refused, failed, unread } = words;
  return { completed: "", stopped, busy, "too-long": tooLong, refused, failed, unread };
}

/** Returns what the line above the form says. */
export function statusOf(activity: Activity, isWaiting: boolean, words: Words): string {
  switch (activity.name) {
    case "idle":
      return "";
    case "working":
      // The answer itself says what it waits for.
      return isWaiting ? "" : words.working;
    case "failed":
      return failureOf(activity.error) ?? (activity.what === "send" ? words.notSent : words.notRead);
    default:
      return words[activity.name];
  }
}

function failureOf(error: unknown): string | undefined {
  return error instanceof ChatError ? error.forVisitor : undefined;
}
