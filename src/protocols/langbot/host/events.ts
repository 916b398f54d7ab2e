// The events that started runs of the conversation. All other events give RESOURCE_NOT_FOUND, regardless of their client.

import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type AgentEventRecord,
  AgentEventRecordSchema,
  type GetEventRequest,
  type PageEventsRequest,
  type PageEventsResponse,
  PageEventsResponseSchema,
} from "#gen/runnel/host/v1/host_history_service_pb.js";
import type { Cursors } from "../../../platform/auth/cursor.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { conversationKey } from "../runners/scope.ts";
import { type AgentEventRow, findEvent, readEventPage } from "../storage/event-page.ts";
import { type HostContext, type HostDeps, type HostRun, withHostRun } from "./access.ts";
import { requireConversation, secondsOf } from "./conversation.ts";
import { countOf, openCursor } from "./page.ts";

/** Dependencies of the event actions. */
export interface EventDeps extends HostDeps {
  readonly cursors: Cursors;
}

/** Returns an event. Throws Fault RESOURCE_NOT_FOUND when it is unknown or of another conversation. */
export async function getEvent(
  deps: EventDeps,
  context: HostContext,
  { runId, eventId }: GetEventRequest,
): Promise<AgentEventRecord> {
  const call = { runId, action: "event_get", needs: { api: "event_get" }, resource: eventId } as const;
  return await withHostRun(deps, context, call, async (run) => {
    const scope = conversationKey(run.scope);
    const row = await findEvent(deps.db, { runId: run.runId, scope, eventId });
    if (row === undefined) {
      throw new Fault("RESOURCE_NOT_FOUND", "event not found");
    }
    return eventToProto(deps.cursors, run, scope, row);
  });
}

/** Returns a page of the conversation's events. `before_cursor` continues a page. */
export async function pageEvents(
  deps: EventDeps,
  context: HostContext,
  request: PageEventsRequest,
): Promise<PageEventsResponse> {
  const { runId, conversationId, eventTypes: types, beforeCursor: token } = request;
  const call = { runId, action: "event_page", needs: { api: "event_page" }, resource: conversationId } as const;
  return await withHostRun(deps, context, { ...call, scope: "conversation" }, async (run) => {
    const scope = requireConversation(run, conversationId);
    const before = openCursor(deps.cursors, eventCursorScope(run, scope), { field: "before_cursor", token });
    const limit = countOf("limit", request.limit);
    const rows = await readEventPage(deps.db, { scope, types, before, limit });
    const items = rows.slice(0, limit).map((row) => eventToProto(deps.cursors, run, scope, row));
    const hasMore = rows.length > limit;
    const nextCursor = hasMore ? items.at(-1)?.cursor : undefined;
    return create(PageEventsResponseSchema, { items, hasMore, ...(nextCursor !== undefined && { nextCursor }) });
  });
}

function eventCursorScope({ runId }: HostRun, conversation: Buffer): readonly string[] {
  return ["events", runId, conversation.toString("hex")];
}

function eventToProto(
  cursors: Cursors,
  run: HostRun,
  scope: Buffer | undefined,
  { event_id, event_type, seq, record, create_time }: AgentEventRow,
): AgentEventRecord {
  const stored = fromBinary(AgentEventRecordSchema, record);
  const place = scope === undefined || seq === null ? undefined : { scope, seq };
  return create(AgentEventRecordSchema, {
    ...stored,
    eventId: event_id,
    eventType: event_type,
    metadata: stored.metadata === "" ? "{}" : stored.metadata,
    createdAt: secondsOf(create_time),
    ...(place !== undefined && {
      seq: BigInt(place.seq),
      cursor: cursors.encode(eventCursorScope(run, place.scope), String(place.seq)),
    }),
  });
}
