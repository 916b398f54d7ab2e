// What the results of a runner change beside the log: data on their way into the transaction that writes the results.

import { failpoint } from "../../../platform/base/failpoint.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { insertApproval, type NewApprovalRow } from "../storage/approval.ts";
import { type NewArtifact, putArtifact } from "../storage/artifact.ts";
import { advanceConversation } from "../storage/conversation.ts";
import { insertHistoryItem } from "../storage/history-item.ts";
import { appendVerdicts, type VerdictRow } from "../storage/result-verdict.ts";
import { setStateValue } from "../storage/state-value.ts";

export interface ReportedEffects {
  readonly client: string;
  readonly runnerId: string;
  readonly eventId: string;
  /** By the hash of the conversation; undefined when the event has none. */
  readonly conversation: Uint8Array | undefined;
  readonly states: readonly StateChange[];
  readonly artifacts: readonly ReportedArtifact[];
  /** What was said in the conversation, oldest first. */
  readonly messages: readonly ReportedMessage[];
  /** What somebody has to approve. */
  readonly approvals: readonly ReportedApproval[];
  /** Of the results that are not in the log as they came. */
  readonly verdicts: readonly VerdictRow[];
  /** When they came. */
  readonly nowMs: number;
}

export interface StateChange {
  /** Whose state, by its hash. */
  readonly owner: Uint8Array;
  readonly key: string;
  /** JSON. */
  readonly value: string;
}

export type ReportedArtifact = Omit<NewArtifact, "client" | "runId" | "runnerId" | "scope">;
export type ReportedApproval = Omit<NewApprovalRow, "client" | "runId" | "runnerId">;

export interface ReportedMessage {
  readonly role: string;
  readonly text: string | undefined;
  /** The whole message, a JSON object. */
  readonly json: string;
}

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
    await insertApproval(trx, { ...approval, client, runId, runnerId });
  }
  await appendVerdicts(trx, runId, effects.verdicts);
  failpoint("reported.written");
}
