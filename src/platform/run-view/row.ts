// A row of a transcript.

import type { Citation } from "#gen/runnel/v1/message_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";

/** What an entry of a type says. */
export type Payload<Case extends string> = Extract<RunResult["payload"], { case: Case }>["value"];

/** What a row shows. */
export type RowContent =
  | {
      readonly kind: "message";
      readonly role: string;
      text: string;
      isLive: boolean;
      /** How many characters before the text are not kept. */
      charsDropped: number;
    }
  | { readonly kind: "sources"; readonly citations: readonly Citation[] }
  | { readonly kind: "reasoning"; text: string; isLive: boolean }
  | {
      readonly kind: "tool";
      readonly name: string;
      readonly parameters: string;
      /** Whether the provider of the model runs the tool itself. */
      readonly isOfProvider: boolean;
      /** The id of the run that the call has started; undefined for a call of another tool. */
      childRunId: string | undefined;
      result: string | undefined;
      error: string | undefined;
      endMs: number | undefined;
      endSequence: number | undefined;
    }
  | { readonly kind: "turn"; readonly turn: number }
  | { readonly kind: "restart"; readonly turn: number; readonly fromSequence: number }
  | { readonly kind: "waiting"; readonly value: Payload<"runWaiting"> }
  | { readonly kind: "approval"; readonly value: Payload<"approvalRequested"> }
  | { readonly kind: "artifact"; readonly value: Payload<"artifactCreated"> }
  | { readonly kind: "state"; readonly value: Payload<"stateUpdated"> }
  | { readonly kind: "handoff"; readonly value: Payload<"handoffCompleted"> }
  | { readonly kind: "summary"; readonly value: Payload<"contextCompacted"> }
  | { readonly kind: "skills"; readonly value: Payload<"skillsListed"> }
  | { readonly kind: "action"; readonly value: Payload<"actionRequested"> }
  | { readonly kind: "lost" }
  | { readonly kind: "purged"; readonly what: string; readonly sha256: string }
  | { readonly kind: "extension"; readonly type: string; readonly json: string }
  | { readonly kind: "completed"; readonly value: Payload<"runCompleted"> }
  | { readonly kind: "failed"; readonly value: Payload<"runFailed"> };

/** One row. */
export interface Row {
  readonly sequence: number;
  readonly timeMs: number;
  readonly content: RowContent;
  lastSequence: number;
  isVoid: boolean;
  version: number;
}

export function makeMessage(role: string): Extract<RowContent, { kind: "message" }> {
  return { kind: "message", role: role === "" ? "assistant" : role, text: "", isLive: false, charsDropped: 0 };
}
