// Reads a request of the Responses API, with what it refers to: items by their ids, and the messages that it continues.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Calls } from "../in-process/calls.ts";
import { readSessionMessages } from "../in-process/session-messages.ts";
import type { Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import type { Fields } from "./fields.ts";
import { responseIdOf } from "./ids.ts";
import { type References, referredIds } from "./input.ts";
import { type Asked, previousNotFound, readConversation, readRequest } from "./response-request.ts";
import { findOrigin, findReferences } from "./stored.ts";
import { readFields } from "./visit.ts";

/** Reads a request, and the items that it refers to. */
export async function readAsked(visit: Visit): Promise<Asked> {
  const request = readFields(visit);
  const ids = referredIds(request);
  return readRequest(request, ids.length === 0 ? new Map() : await findReferred(visit.calls, request, ids));
}

async function findReferred(calls: Calls, request: Fields, ids: readonly string[]): Promise<References> {
  const previous = request.findText("previous_response_id");
  const session = previous === undefined ? readConversation(request) : (await findOrigin(calls, previous))?.sessionId;
  return await findReferences(calls, ids, session);
}

/** Returns the messages of a request after those of its conversation, or of its previous response and what came before. */
export async function readWhole(
  calls: Calls,
  { messages, conversation, previousRunId }: Asked,
): Promise<readonly Message[]> {
  const sessionId = previousRunId === undefined ? conversation : await findSession(calls, previousRunId);
  const known = sessionId === undefined ? [] : await readSessionMessages(calls, sessionId);
  const end =
    previousRunId === undefined ? known.length : known.findLastIndex(({ runId }) => runId === previousRunId) + 1;
  return [...known.slice(0, end).flatMap(({ message }) => message ?? []), ...messages];
}

async function findSession(calls: Calls, runId: string): Promise<string | undefined> {
  const { run } = await calls.call(RunService.method.getRun, { runId }).catch((error: unknown) => {
    throw isReason(error, "RUN_NOT_FOUND") ? previousNotFound(responseIdOf(runId)) : error;
  });
  return run?.sessionId;
}
