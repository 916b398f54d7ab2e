// Gathers what a driver works with: from the database alone, so that any replica can go on with any run.

import { fromBinary } from "@bufbuild/protobuf";
import { MessageSchema, ToolCallSchema } from "#gen/runnel/v1/message_pb.js";
import { ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { type Checkpoint, readCheckpoint } from "../storage/checkpoint.ts";
import type { Db } from "../storage/database.ts";
import { type RunRow, timeLeftMs } from "../storage/run.ts";
import { lastSequence } from "../storage/run-result.ts";
import { findSessionById } from "../storage/session.ts";
import { readOpenToolCalls } from "../storage/tool-call.ts";
import { readTranscript } from "../storage/transcript.ts";
import type { OpenToolCall, RunContext } from "./driver.ts";

export interface LoadedRun {
  readonly context: Omit<RunContext, "signal" | "workDir">;
  readonly workDir: string | undefined;
  readonly session: { readonly id: string; readonly name: string; readonly client: string };
  readonly checkpoint: Checkpoint | undefined;
  readonly lastSequence: number;
  readonly timeLeftMs: number;
}

export async function loadRun(db: Db, run: RunRow): Promise<LoadedRun> {
  const [session, transcript, checkpoint, openToolCalls, newest, leftMs] = await Promise.all([
    findSessionById(db, run.session),
    readTranscript(db, run.session),
    readCheckpoint(db, run.id),
    readOpenToolCalls(db, run.id),
    lastSequence(db, run.id),
    timeLeftMs(db, run.id),
  ]);
  if (session === undefined) {
    throw new Error(`run ${run.id} has no session`);
  }
  return {
    context: {
      runId: run.id,
      agent: fromBinary(AgentSchema, session.agent),
      input: fromBinary(MessageSchema, run.input),
      transcript: transcript.map((bytes) => fromBinary(MessageSchema, bytes)),
      checkpoint,
      openToolCalls: openToolCalls.map(readOpenCall),
    },
    workDir: session.work_dir ?? undefined,
    session: { id: session.id, name: session.name, client: session.client },
    checkpoint,
    lastSequence: newest,
    timeLeftMs: leftMs,
  };
}

function readOpenCall(row: { call: Uint8Array; outcome: Uint8Array | null }): OpenToolCall {
  return {
    call: fromBinary(ToolCallSchema, row.call),
    outcome: row.outcome === null ? undefined : fromBinary(ToolCallCompletedSchema, row.outcome),
  };
}
