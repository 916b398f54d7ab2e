// The Conversations API: a conversation is a session.

import { timestampMs } from "@bufbuild/protobuf/wkt";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { idempotencyKeyOf, type Visit } from "../in-process/visit.ts";
import { isReason } from "../rest/failure.ts";
import { sendJson } from "../rest/respond.ts";
import { notFound } from "./errors.ts";
import { conversationIdOf, sessionIdOf } from "./ids.ts";
import { readMetadata } from "./response-request.ts";
import { newAgent } from "./start.ts";
import { readConversationItems } from "./stored.ts";
import { pageOf, readFields, readPage } from "./visit.ts";

const sessions = SessionService.method;

/** `POST /v1/conversations`. */
export async function createConversation(visit: Visit): Promise<void> {
  const request = readFields(visit);
  const metadata = readMetadata(request);
  request.assertAllRead();
  const { sessionId } = await visit.calls.call(sessions.createSession, {
    agent: newAgent,
    workDir: metadata["runnel.work_dir"] ?? "",
    annotations: JSON.stringify({ openai_conversation: metadata }),
    requestId: idempotencyKeyOf(visit),
  });
  await getConversation(visit, conversationIdOf(sessionId));
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
  sendJson(visit.response, 200, JSON.stringify(pageOf(items, page)));
}

async function orNotFound<T>(id: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw isReason(error, "SESSION_NOT_FOUND") ? notFound("Conversation", id) : error;
  }
}
