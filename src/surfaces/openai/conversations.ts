// The Conversations API: a conversation is a session.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { sendFirst } from "../in-process/first-message.ts";
import { readSessionMessages } from "../in-process/session-messages.ts";
import { idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { sendJson } from "../rest/respond.ts";
import { invalid, notFound } from "./errors.ts";
import { conversationIdOf, sessionIdOf } from "./ids.ts";
import { readItems } from "./input.ts";
import { itemsOf } from "./messages.ts";
import { readMetadata } from "./response-request.ts";
import { newAgent } from "./start.ts";
import { itemsOfMessage, readConversationItems } from "./stored.ts";
import { pageOf, readFields, readPage } from "./visit.ts";

const sessions = SessionService.method;

/** `POST /v1/conversations`. */
export async function createConversation(visit: Visit): Promise<void> {
  const { calls } = visit;
  const request = readFields(visit);
  const metadata = readMetadata(request);
  const messages = readItems(request, "items");
  request.assertAllRead();
  const requestId = idempotencyKeyOf(visit);
  const { sessionId } = await calls.call(sessions.createSession, {
    agent: newAgent,
    workDir: metadata["runnel.work_dir"] ?? "",
    annotations: annotate(metadata),
    requestId,
  });
  if (messages.length > 0) {
    const add = () => calls.call(sessions.addMessages, { sessionId, messages: [...messages], requestId });
    // A repetition with the same key gets the same session, which therefore stays.
    await (requestId === "" ? sendFirst(calls, sessionId, add) : add());
  }
  await getConversation(visit, conversationIdOf(sessionId));
}

function annotate(metadata: Readonly<Record<string, string>>): string {
  return JSON.stringify({ openai_conversation: metadata });
}

/** `POST /v1/conversations/{id}`: replaces the metadata. */
export async function updateConversation(visit: Visit, id: string): Promise<void> {
  const request = readFields(visit);
  const annotations = annotate(readMetadata(request));
  request.assertAllRead();
  const sessionId = sessionIdOf(id) ?? "";
  await orNotFound(id, () => visit.calls.call(sessions.updateSession, { sessionId, annotations }));
  await getConversation(visit, id);
}

/** `GET /v1/conversations/{id}`. */
export async function getConversation({ calls, response }: Visit, id: string): Promise<void> {
  const { session } = await orNotFound(id, () => calls.call(sessions.getSession, { sessionId: sessionIdOf(id) ?? "" }));
  const { createdAt, annotations = "" } = session ?? {};
  const { openai_conversation: metadata = {} } = JSON.parse(annotations || "{}");
  const created_at = createdAt === undefined ? 0 : Math.floor(timestampMs(createdAt) / 1_000);
  sendJson(response, 200, JSON.stringify({ id, object: "conversation", created_at, metadata }));
}

/** `DELETE /v1/conversations/{id}`. */
export async function deleteConversation({ calls, response }: Visit, id: string): Promise<void> {
  await orNotFound(id, () => calls.call(sessions.deleteSession, { sessionId: sessionIdOf(id) ?? "" }));
  sendJson(response, 200, JSON.stringify({ id, object: "conversation.deleted", deleted: true }));
}

/** `GET /v1/conversations/{id}/items`. */
export async function listConversationItems(visit: Visit, id: string): Promise<void> {
  const page = readPage(visit);
  const sessionId = sessionIdOf(id) ?? "";
  const items = await orNotFound(id, () => readConversationItems(visit.calls, sessionId));
  sendJson(visit.response, 200, JSON.stringify(pageOf(items, page, `${sessionId}_`)));
}

/** `POST /v1/conversations/{id}/items`: adds items, and answers with them. */
export async function addConversationItems(visit: Visit, id: string): Promise<void> {
  const { calls, response } = visit;
  const request = readFields(visit);
  const messages = readItems(request, "items");
  request.assertAllRead();
  if (messages.length === 0) {
    throw invalid("items", "give a list of items");
  }
  const sessionId = sessionIdOf(id) ?? "";
  const asked = { sessionId, messages: [...messages], requestId: idempotencyKeyOf(visit) };
  const { firstNumber } = await orNotFound(id, () => calls.call(sessions.addMessages, asked));
  const items = messages.flatMap((message, index) => itemsOf(message, `${sessionId}_${firstNumber + index}`));
  const page = { limit: items.length, isAscending: true, after: undefined };
  sendJson(response, 200, JSON.stringify(pageOf(items, page, `${sessionId}_`)));
}

/** `GET /v1/conversations/{id}/items/{item_id}`. */
export async function getConversationItem({ calls, response }: Visit, id: string, itemId: string): Promise<void> {
  const items = await orNotFound(id, () => readConversationItems(calls, sessionIdOf(id) ?? ""));
  const item = items.find((each) => each.id === itemId);
  if (item === undefined) {
    throw notFound("Item", itemId);
  }
  sendJson(response, 200, JSON.stringify(item));
}

/** `DELETE /v1/conversations/{id}/items/{item_id}`: deletes the message that the item is a part of, and answers with the conversation. */
export async function deleteConversationItem(visit: Visit, id: string, itemId: string): Promise<void> {
  const { calls } = visit;
  const sessionId = sessionIdOf(id) ?? "";
  const messages = await orNotFound(id, () => readSessionMessages(calls, sessionId));
  const found = messages.find((each) => itemsOfMessage(sessionId, each).some((item) => item.id === itemId));
  if (found === undefined) {
    throw notFound("Item", itemId);
  }
  await calls.call(sessions.deleteMessage, { sessionId, number: found.number });
  await getConversation(visit, id);
}

async function orNotFound<T>(id: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw isReason(error, "SESSION_NOT_FOUND") ? notFound("Conversation", id) : error;
  }
}
