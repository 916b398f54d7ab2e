// What a reported result changes besides its log entry, as data.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../../../engine/log/result.ts";
import { messageText } from "../../../../engine/sessions/message-text.ts";
import type { NewApproval } from "../../../../engine/storage/approval.ts";
import type { NewArtifact } from "./artifact.ts";
import { messageJson } from "./message-json.ts";
import type { StateUpdate } from "./state.ts";

/** The effect of a result. */
export type ResultEffect = StateEffect | ArtifactEffect | HistoryEffect | ApprovalEffect;

/** Changes a value of the run's state. */
export interface StateEffect extends StateUpdate {
  readonly kind: "state";
}

/** Adds an artifact of the run. */
export interface ArtifactEffect extends NewArtifact {
  readonly kind: "artifact";
}

/** Adds a message to the transcript of the conversation. */
export interface HistoryEffect {
  readonly kind: "history";
  readonly role: string;
  /** The whole message as JSON, as the runner wrote it. */
  readonly message: string;
  /** The text of the message, for searches and lists. */
  readonly text: string;
}

/** Requests an approval of the runner's action. */
export interface ApprovalEffect extends NewApproval {
  readonly kind: "approval";
}

/** The end of a run, as its runner reported it. */
export type RunnerEnd = {
  readonly runnerSequence: bigint;
  /** The usage in the terminal result. */
  readonly usage: ResultInit["usage"];
} & (
  | {
      readonly kind: "completed";
      readonly finishReason: string;
      readonly message?: Message | undefined;
      /** Text that was only streamed. */
      readonly output?: string;
    }
  | { readonly kind: "failed"; readonly code: string; readonly error: string; readonly retryable: boolean }
);

/** Returns the effect that adds a message to the transcript. */
export function historyEffect(message: Message): HistoryEffect {
  // Postgres cannot store NUL in text.
  const text = messageText(message).replaceAll("\0", "\ufffd");
  return { kind: "history", role: message.role, message: messageJson(message), text };
}
