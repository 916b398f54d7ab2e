// AddMessages and DeleteMessage: how callers change the messages of a session without a run.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import {
  type AddMessagesRequest,
  type AddMessagesResponse,
  AddMessagesResponseSchema,
  type DeleteMessageRequest,
  SessionService,
} from "#gen/runnel/v1/session_service_pb.js";
import { countUnfinishedRuns } from "../engine/storage/pending-run.ts";
import { lockSession, type SessionName } from "../engine/storage/session.ts";
import {
  appendInput,
  deleteMessages,
  noRunId,
  readTranscript,
  readTranscriptPage,
} from "../engine/storage/transcript.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import type { Transaction } from "../platform/database/database.ts";
import { inTransaction } from "../platform/database/in-transaction.ts";
import type { ServiceDeps } from "./deps.ts";
import { claimCall, keepAnswer, repeatable } from "./idempotency.ts";
import { checkHistory, openCallsOf } from "./run-input.ts";
import { requireFound } from "./send-message.ts";

/** More messages than a response with all its answers has. */
const answersMax = 300;

/**
 * Adds messages to a session that has no active run.
 * @throws Fault SESSION_NOT_FOUND, SESSION_BUSY, INVALID_ARGUMENT, REQUEST_ID_REUSED.
 */
export async function addMessages(
  deps: Pick<ServiceDeps, "db">,
  client: string,
  request: AddMessagesRequest,
): Promise<AddMessagesResponse> {
  const call = repeatable(client, SessionService.method.addMessages, request);
  return await inTransaction(deps.db, async (trx) => {
    const known = await claimCall(trx, call);
    if (known !== undefined) {
      return known;
    }
    const session = await lockIdle(trx, { client, name: request.sessionId });
    const { messages, length } = await readTranscript(trx, { session, newestMax: answersMax });
    const openCalls = openCallsOf(messages.map(({ message }) => fromBinary(MessageSchema, message)));
    const added = checkHistory(request.messages, openCalls).map((message) => toBinary(MessageSchema, message));
    await appendInput(trx, { session, runId: noRunId, messages: added });
    return await keepAnswer(trx, call, create(AddMessagesResponseSchema, { firstNumber: length + 1 }));
  });
}

/**
 * Deletes a message of a session that has no active run, and the results that answer its calls.
 * @throws Fault SESSION_NOT_FOUND, SESSION_BUSY, INVALID_ARGUMENT.
 */
export async function deleteMessage(
  deps: Pick<ServiceDeps, "db">,
  client: string,
  { sessionId, number }: DeleteMessageRequest,
): Promise<void> {
  await inTransaction(deps.db, async (trx) => {
    const session = await lockIdle(trx, { client, name: sessionId });
    const page = { session, from: number - 1, rowsMax: answersMax, bytesMax: answersBytesMax };
    const [first, ...following] = (await readTranscriptPage(trx, page)).rows;
    if (first?.position !== number - 1) {
      throw invalidField("number", `the session has no message ${number}`);
    }
    const { toolCalls } = fromBinary(MessageSchema, first.message);
    const next = following.findIndex(({ message }) => fromBinary(MessageSchema, message).role !== "tool");
    const results = toolCalls.length === 0 ? [] : following.slice(0, next === -1 ? following.length : next);
    const positions = [first, ...results].map(({ position }) => position);
    await deleteMessages(trx, { session, positions });
  });
}

/** The results of one response. */
const answersBytesMax = 64 * 1_048_576;

/** Locks a session without an active run, and returns its id. */
async function lockIdle(trx: Transaction, name: SessionName): Promise<string> {
  const { id } = requireFound(await lockSession(trx, name));
  if ((await countUnfinishedRuns(trx, id)) > 0) {
    throw new Fault("SESSION_BUSY", "session has an active run: change its messages when it has ended");
  }
  return id;
}
