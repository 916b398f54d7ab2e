// Loads a driver's context from the database alone, so that any replica can continue any run.

import { fromBinary } from "@bufbuild/protobuf";
import { type Message, MessageSchema, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { AgentSchema, CallbackSchema } from "#gen/runnel/v1/session_pb.js";
import type { Db } from "../../platform/database/database.ts";
import { LogChain, startOfChain } from "../hash-chain/chain.ts";
import { decodeResult } from "../log/result.ts";
import { readStoredChain } from "../log/stored-chain.ts";
import { type Checkpoint, readCheckpoint } from "../storage/checkpoint.ts";
import { readCompaction } from "../storage/compaction.ts";
import type { StartedRun } from "../storage/run-start.ts";
import { type ChildOfCall, readChildrenOfCalls } from "../storage/run-tree.ts";
import { findSessionOfRun } from "../storage/session.ts";
import { readOpenToolCalls, type ToolCallRow } from "../storage/tool-call.ts";
import { readTranscript, type TranscriptWindow } from "../storage/transcript.ts";
import type { CallChild, OpenToolCall, RunContext } from "./driver.ts";

/** A run as it was loaded. */
export interface LoadedRun {
  readonly context: Omit<
    RunContext,
    "signal" | "stopReason" | "isHeld" | "openWorkspace" | "memoriesOf" | "readTree" | "span" | "tryAppend"
  >;
  /** The number of messages in the session, including the ones left out of the transcript. */
  readonly transcriptLength: number;
  readonly workDir: string | undefined;
  /** The session whose directory and memory the tools use: that of the run at the top of the tree. */
  readonly session: { readonly id: string; readonly name: string; readonly client: string };
  readonly checkpoint: Checkpoint | undefined;
  /** The chain of the log as earlier owners left it. */
  readonly chain: LogChain;
}

/** Loads a run. `historyMessagesMax` limits how many of the session's messages are read. */
export async function loadRun(db: Db, run: StartedRun, historyMessagesMax: number): Promise<LoadedRun> {
  const agent = fromBinary(AgentSchema, run.agent);
  const compaction =
    agent.compaction === undefined || run.transcript_length === 1 ? undefined : await readCompaction(db, run.session);
  const [transcript, progress, root] = await Promise.all([
    run.transcript_length === 1
      ? onlyInput(run)
      : readPast(db, run, { historyMessagesMax, after: compaction?.through }),
    run.epoch === firstEpoch ? untouched(run.id) : readRunProgress(db, run.id),
    run.root_run_id === null ? undefined : findSessionOfRun(db, run.root_run_id),
  ]);
  const compacted = decodeMessages(compaction?.messages ?? []);
  return {
    context: {
      runId: run.id,
      client: run.client,
      agent: { ...agent, ...(run.model !== null && { model: run.model }) },
      session: {
        name: run.session_name,
        callback: run.callback === null ? undefined : fromBinary(CallbackSchema, run.callback),
      },
      input: fromBinary(MessageSchema, run.input),
      transcript: [...compacted, ...readMessages(transcript)],
      compacted,
      checkpoint: progress.checkpoint,
      openToolCalls: progress.openToolCalls,
    },
    transcriptLength: transcript.length,
    workDir: run.work_dir ?? undefined,
    session: root ?? { id: run.session, name: run.session_name, client: run.client },
    checkpoint: progress.checkpoint,
    chain: progress.chain,
  };
}

/** Returns the transcript of a new session: it holds only the input, so nothing is read. */
function onlyInput({ id, input }: StartedRun): TranscriptWindow {
  return { messages: [{ position: 0, runId: id, message: input }], length: 1, isWhole: true };
}

/** The limit is for earlier messages: those that the caller gave this run, and those that the run has made, come on top. */
async function readPast(
  db: Db,
  { session, turn, input_length: given }: StartedRun,
  { historyMessagesMax, after = -1 }: { historyMessagesMax: number; after: number | undefined },
): Promise<TranscriptWindow> {
  const newestMax = historyMessagesMax + given - 1 + turn * messagesPerTurn;
  return await readTranscript(db, { session, newestMax, after });
}

/** The messages that a run adds in a turn: a response and the answers to its calls, unless its model makes dozens of calls. */
const messagesPerTurn = 16;

/**
 * Decodes a window. Its newest part may begin in the middle of a dialogue; messages without their beginning make no sense, so
 * these are dropped.
 */
function readMessages(window: TranscriptWindow): Message[] {
  const messages = decodeMessages(window.messages.map(({ message }) => message));
  const [first, second] = window.messages;
  if (window.isWhole || first === undefined || second === undefined || second.position === first.position + 1) {
    return messages;
  }
  const [opening, ...others] = messages;
  const user = others.findIndex(({ role }) => role === "user");
  // A window that a single run fills has no other user message.
  const begin = user === -1 ? others.findIndex(({ role }) => role === "assistant") : user;
  return [...(opening === undefined ? [] : [opening]), ...(begin === -1 ? [] : others.slice(begin))];
}

function decodeMessages(messages: readonly Uint8Array[]): Message[] {
  return messages.map((message) => fromBinary(MessageSchema, message));
}

/** The progress that earlier owners of the run stored. */
interface RunProgress {
  readonly checkpoint: Checkpoint | undefined;
  readonly openToolCalls: readonly OpenToolCall[];
  readonly chain: LogChain;
}

/** The epoch of the first owner, which has no progress to read. */
const firstEpoch = 1;
function untouched(runId: string): RunProgress {
  return { checkpoint: undefined, openToolCalls: [], chain: new LogChain(startOfChain(runId)) };
}

async function readRunProgress(db: Db, runId: string): Promise<RunProgress> {
  const [checkpoint, rows, chain] = await Promise.all([
    readCheckpoint(db, runId),
    readOpenToolCalls(db, runId),
    readStoredChain(db, runId),
  ]);
  const hasChildren = rows.some(({ child_run_id: child }) => child !== null);
  const children = hasChildren ? await readChildrenOfCalls(db, runId) : [];
  return { checkpoint, openToolCalls: rows.map((row) => readOpenCall(row, children)), chain };
}

function readOpenCall(row: ToolCallRow, children: readonly ChildOfCall[]): OpenToolCall {
  const child = children.find(({ turn, position }) => turn === row.turn && position === row.position);
  return {
    child: child && readChild(child),
    approval: approvalOf(row),
    task: row.task ?? undefined,
    call: fromBinary(ToolCallSchema, row.call),
    outcome: row.outcome === null ? undefined : fromBinary(ToolCallCompletedSchema, row.outcome),
  };
}

function readChild({ runId, isOver, terminal, promptTokens, completionTokens, costMicroUsd }: ChildOfCall): CallChild {
  const result = terminal === null ? undefined : decodeResult(terminal);
  return { runId, end: isOver ? { result, spent: { promptTokens, completionTokens, costMicroUsd } } : undefined };
}

function approvalOf({ approval_id: approvalId, state, expire_time: expireTime, ...row }: ToolCallRow) {
  return approvalId === null || state === null || expireTime === null
    ? undefined
    : {
        approvalId,
        state,
        expireMs: expireTime.getTime(),
        decidedBy: row.decided_by ?? "",
        comment: row.comment ?? "",
      };
}
