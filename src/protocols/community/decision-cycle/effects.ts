// The progress of a decision cycle: data that the transaction of the results writes.

import { failpoint } from "../../../platform/base/failpoint.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { deleteFeedback, insertFeedback, type NewFeedback } from "../storage/agent-feedback.ts";
import { insertCommunication, type NewCommunication } from "../storage/communication.ts";
import { beginAction, endAction, saveDecision } from "../storage/decision-cycle.ts";

/** The effects of one step of a decision cycle. */
export interface DecidedEffects {
  /** The model's answer as JSON. Once it is stored, the model is not asked again. */
  readonly decision?: string;
  /** Ids of feedback that the model has received. */
  readonly delivered?: readonly string[];
  /** An action that is about to start, with the data needed to find out later whether it was done. */
  readonly begun?: { readonly position: number; readonly attempt: string };
  /** An action that has ended. */
  readonly ended?: { readonly position: number; readonly outcome: string };
  /** Feedback on the action for the agent. */
  readonly feedback?: NewFeedback;
  /** An entry for the communication log. */
  readonly said?: NewCommunication;
}

/** Writes the effects of a step. Must run in the transaction of its results. */
export async function applyDecided(trx: Transaction, runId: string, effects: DecidedEffects): Promise<void> {
  const { decision, delivered, begun, ended, feedback, said } = effects;
  if (decision !== undefined) {
    await saveDecision(trx, { runId, decision });
  }
  if (delivered !== undefined && delivered.length > 0) {
    await deleteFeedback(trx, delivered);
  }
  if (begun !== undefined) {
    await beginAction(trx, { runId, ...begun });
  }
  if (ended !== undefined) {
    await endAction(trx, { runId, ...ended });
  }
  if (feedback !== undefined) {
    await insertFeedback(trx, feedback);
  }
  if (said !== undefined) {
    await insertCommunication(trx, said);
  }
  failpoint("decided.written");
}
