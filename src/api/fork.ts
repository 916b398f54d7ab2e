// Forks: a new session that continues from a place in another one. The messages are copied, and the origin stays as it is.

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Agent,
  AgentSchema,
  type Callback,
  CallbackSchema,
  type Fork,
  ForkSchema,
} from "#gen/runnel/v1/session_pb.js";
import { findClientRun } from "../engine/storage/client-run.ts";
import { isActive } from "../engine/storage/run.ts";
import { lockSession, type SessionRow } from "../engine/storage/session.ts";
import { copyTranscript } from "../engine/storage/transcript.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import type { Transaction } from "../platform/database/database.ts";
import { replaceSettings } from "./agent-settings.ts";
import { requireFound } from "./send-message.ts";

/** The settings of a new session. */
export interface SessionSettings {
  readonly agent?: Agent | undefined;
  readonly callback?: Callback | undefined;
}

/** The origin of a fork, locked, and the settings that its fork has. */
export interface Origin extends SessionSettings {
  readonly session: SessionRow;
  readonly fork: Fork;
  readonly encoded: Uint8Array;
}

/**
 * Locks the origin of a fork.
 * @throws Fault SESSION_NOT_FOUND, RUN_NOT_FOUND, RUN_ACTIVE, INVALID_ARGUMENT.
 */
export async function openOrigin(
  trx: Transaction,
  client: string,
  fork: Fork,
  asked: SessionSettings,
): Promise<Origin> {
  if (fork.runId !== "" && fork.messageCount > 0) {
    throw invalidField("fork", "run_id and message_count exclude each other: set one");
  }
  const session = requireFound(await lockSession(trx, { client, name: fork.sessionId }));
  const run = fork.runId === "" ? undefined : await findClientRun(trx, { client, id: fork.runId });
  if (run !== undefined && isActive(run.status)) {
    throw new Fault("RUN_ACTIVE", `run ${run.id} is active: fork after its end`);
  }
  const callback = session.callback === null ? undefined : fromBinary(CallbackSchema, session.callback);
  return {
    session,
    fork,
    encoded: toBinary(ForkSchema, fork),
    agent: replaceSettings(fromBinary(AgentSchema, session.agent), asked.agent),
    callback: asked.callback ?? callback,
  };
}

/** Copies the messages of the origin. Throws RUN_NOT_FOUND or INVALID_ARGUMENT when it has no such place. */
export async function copyMessages(trx: Transaction, { session, fork }: Origin, to: string): Promise<void> {
  const length = fork.messageCount > 0 ? fork.messageCount : undefined;
  const throughRun = fork.runId === "" ? undefined : fork.runId;
  const copied = await copyTranscript(trx, { from: session.id, to, length, throughRun });
  if (throughRun !== undefined && copied === 0) {
    throw new Fault("RUN_NOT_FOUND", `session "${fork.sessionId}" has no messages of run ${throughRun}`);
  }
  if (length !== undefined && copied < length) {
    throw invalidField("fork.message_count", `the session has ${copied} messages`);
  }
}
