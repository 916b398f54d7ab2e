// What the results of a runner change besides the log: data for the transaction that writes the results.

import { insertApproval, type NewApproval } from "../../../engine/storage/approval.ts";
import { setStateValue } from "../../../engine/storage/state-value.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { type NewArtifact, putArtifact } from "../storage/artifact.ts";
import { advanceConversation } from "../storage/conversation.ts";
import { insertHistoryItem } from "../storage/history-item.ts";
import { appendVerdicts, type VerdictRow } from "../storage/result-verdict.ts";

/** The effects of one batch of results. */
export interface ReportedEffects {
  readonly client: string;
  readonly runnerId: string;
  readonly eventId: string;
  /** The hash of the conversation; undefined for an event without a conversation. */
  readonly conversation: Uint8Array | undefined;
  readonly states: readonly StateChange[];
  readonly artifacts: readonly ReportedArtifact[];
  /** The messages for the transcript, oldest first. */
  readonly messages: readonly ReportedMessage[];
  /** The requests for approval. */
  readonly approvals: readonly NewApproval[];
  /** The verdicts on results that are not in the log as they were reported. */
  readonly verdicts: readonly VerdictRow[];
  /** When the results arrived. */
  readonly nowMs: number;
}

/** A new value of the state. */
export interface StateChange {
  /** The hash that identifies the owner of the state. */
  readonly owner: Uint8Array;
  readonly key: string;
  /** The value as JSON. */
  readonly value: string;
}

/** An artifact that the runner made. The transaction adds the run. */
export type ReportedArtifact = Omit<NewArtifact, "client" | "runId" | "runnerId" | "scope">;

/** A message for the transcript. */
export interface ReportedMessage {
  readonly role: string;
  readonly text: string | undefined;
  /** The whole message as a JSON object. */
  readonly json: string;
}

/** Writes the effects, in the transaction of the results. */
export async function applyReported(trx: Transaction, runId: string, effects: ReportedEffects): Promise<void> {
  const { client, runnerId, eventId, conversation, nowMs } = effects;
  for (const { owner, key, value } of effects.states) {
    await setStateValue(trx, { owner, client, key, value });
  }
  for (const artifact of effects.artifacts) {
    await putArtifact(trx, { ...artifact, client, runId, runnerId, scope: conversation });
  }
  if (conversation !== undefined && effects.messages.length > 0) {
    const { messages } = effects;
    const { last_item: lastItem } = await advanceConversation(trx, {
      scope: conversation,
      client,
      items: messages.length,
      events: 0,
    });
    for (const [index, { role, text, json }] of messages.entries()) {
      const seq = lastItem - messages.length + 1 + index;
      const id = newUuid(nowMs);
      await insertHistoryItem(trx, {
        scope: conversation,
        seq,
        id,
        runId,
        eventId,
        role,
        content: text,
        contentJson: json,
      });
    }
  }
  for (const approval of effects.approvals) {
    await insertApproval(trx, { ...approval, runId, runnerId });
  }
  await appendVerdicts(trx, runId, effects.verdicts);
  failpoint("reported.written");
}
