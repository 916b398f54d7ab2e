// How far a decision cycle has come: data on their way into the transaction that writes the results.

import { failpoint } from "../../../platform/base/failpoint.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { deleteFeedback, insertFeedback, type NewFeedback } from "../storage/agent-feedback.ts";
import { insertCommunication, type NewCommunication } from "../storage/communication.ts";
import { beginAction, endAction, saveDecision } from "../storage/decision-cycle.ts";

export interface DecidedEffects {
  /** What the model answered, JSON: from now on it is not asked again. */
  readonly decision?: string;
  /** Feedback of which the agent's model has been told. */
  readonly delivered?: readonly string[];
  /** An action that is about to be done, with what it takes to find out later whether it was. */
  readonly begun?: { readonly position: number; readonly attempt: string };
  /** One that has ended. */
  readonly ended?: { readonly position: number; readonly outcome: string };
  /** What the agent is to be told of it. */
  readonly feedback?: NewFeedback;
  /** For the communication log. */
  readonly said?: NewCommunication;
}

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
