// Writes the effects of a driver, which are data, as rows in the transaction of the commit.

import { toBinary } from "@bufbuild/protobuf";
import { type Message, MessageSchema, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Transaction } from "../../platform/database/database.ts";
import type { WrittenResults } from "../log/writer.ts";
import { insertApproval, markApprovalUsed } from "../storage/approval.ts";
import { saveCheckpoint } from "../storage/checkpoint.ts";
import { insertCompaction } from "../storage/compaction.ts";
import { setAgent, setTurn } from "../storage/run.ts";
import {
  hasToolOutcome,
  insertToolCalls,
  markToolCallsLogged,
  recordToolOutcome,
  recordToolTask,
} from "../storage/tool-call.ts";
import { appendTranscript } from "../storage/transcript.ts";
import { startChildren } from "./children.ts";
import type { StepEffects } from "./driver.ts";

/** The run and the session that effects belong to. */
export interface EffectTarget {
  readonly runId: string;
  readonly session: string;
  /**
   * The length of the session's transcript as of the last commit. It is the position of the next message, also in a repeated
   * transaction.
   */
  transcriptLength: number;
}

/** Writes the effects of one step. Repeatable with the transaction. */
export async function applyEffects(
  trx: Transaction,
  target: EffectTarget,
  effects: StepEffects,
  { sequences, chain }: WrittenResults,
): Promise<void> {
  const { runId, session } = target;
  if (effects.transcript !== undefined) {
    const messages = encodeMessages(effects.transcript);
    await appendTranscript(trx, { session, runId, position: target.transcriptLength, messages });
  }
  if (effects.compaction !== undefined) {
    const { messages, kept } = effects.compaction;
    await insertCompaction(trx, { session, kept, messages: encodeMessages(messages) });
  }
  if (effects.toolCalls !== undefined) {
    const { turn, calls } = effects.toolCalls;
    for (const { approval } of calls) {
      if (approval !== undefined) {
        await insertApproval(trx, { ...approval, runId });
      }
    }
    await insertToolCalls(trx, {
      runId,
      turn,
      calls: calls.map(({ call, approval }) => ({
        call: toBinary(ToolCallSchema, call),
        approvalId: approval?.approvalId,
      })),
    });
    failpoint("calls.written");
  }
  if (effects.children !== undefined) {
    await startChildren(trx, { runId, ...effects.children });
  }
  if (effects.handoff !== undefined) {
    const { agent, model } = effects.handoff;
    await setAgent(trx, { runId, session, agent: toBinary(AgentSchema, agent), model, agentName: agent.name });
  }
  for (const id of effects.usedApprovals ?? []) {
    await markApprovalUsed(trx, { id, useId: id });
  }
  if (effects.toolTask !== undefined) {
    await recordToolTask(trx, { runId, ...effects.toolTask });
  }
  if (effects.toolOutcome !== undefined) {
    await storeOutcome(trx, runId, effects.toolOutcome);
    failpoint("outcome.written");
  }
  if (effects.toolResultsOfTurn !== undefined) {
    await markToolCallsLogged(trx, { runId, turn: effects.toolResultsOfTurn, sequences });
    failpoint("answers.written");
  }
  await effects.own?.(trx, target);
  if (effects.checkpoint !== undefined) {
    const checkpoint = { ...effects.checkpoint, sequence: chain.count };
    await saveCheckpoint(trx, { runId, checkpoint, block: chain.lastBlock });
    await setTurn(trx, { id: runId, turn: effects.checkpoint.turn });
    failpoint("checkpoint.written");
  }
}

function encodeMessages(messages: readonly Message[]): Uint8Array[] {
  return messages.map((message) => toBinary(MessageSchema, message));
}

/** A transaction whose commit is in doubt is repeated: what it has already written is not written again. */
async function storeOutcome(
  trx: Transaction,
  runId: string,
  { turn, position, outcome: given }: NonNullable<StepEffects["toolOutcome"]>,
): Promise<void> {
  if (typeof given === "function" && (await hasToolOutcome(trx, { runId, turn, position }))) {
    return;
  }
  const outcome = typeof given === "function" ? await given(trx) : given;
  await recordToolOutcome(trx, { runId, turn, position, outcome: toBinary(ToolCallCompletedSchema, outcome) });
}
