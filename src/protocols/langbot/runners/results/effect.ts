// What a reported result does beside its entry in the log, as data.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import type { ResultInit } from "../../../../engine/log/result.ts";
import { messageText } from "../../../../engine/sessions/message-text.ts";
import type { NewApproval } from "./approval.ts";
import type { NewArtifact } from "./artifact.ts";
import { messageJson } from "./message-json.ts";
import type { StateUpdate } from "./state.ts";

export type ResultEffect = StateEffect | ArtifactEffect | HistoryEffect | ApprovalEffect;

/** A value of the run's state is another one now. */
export interface StateEffect extends StateUpdate {
  readonly kind: "state";
}

/** The run has made an artifact. */
export interface ArtifactEffect extends NewArtifact {
  readonly kind: "artifact";
}

/** Something was said in the conversation. */
export interface HistoryEffect {
  readonly kind: "history";
  readonly role: string;
  /** The whole message, as the runner wrote it. */
  readonly message: string;
  /** Its text, as far as it can be searched and listed. */
  readonly text: string;
}

/** Somebody has to say whether what the runner asks for may be done. */
export interface ApprovalEffect extends NewApproval {
  readonly kind: "approval";
}

/** How the runner ended its run. */
export type RunnerEnd = {
  readonly runnerSequence: bigint;
  /** As the terminal result says it. */
  readonly usage: ResultInit["usage"];
} & (
  | {
      readonly kind: "completed";
      readonly finishReason: string;
      readonly message?: Message | undefined;
      /** Text that came in chunks alone. */
      readonly output?: string;
    }
  | { readonly kind: "failed"; readonly code: string; readonly error: string; readonly retryable: boolean }
);

export function historyEffect(message: Message): HistoryEffect {
  // Postgres keeps no text with a NUL in it.
  const text = messageText(message).replaceAll("\0", "\ufffd");
  return { kind: "history", role: message.role, message: messageJson(message), text };
}
