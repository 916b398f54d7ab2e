// Reads the scope of an event from the event itself. An empty text counts as missing.

import type { AgentEvent } from "#gen/runnel/runner/v1/event_pb.js";
import type { Party, RunScope } from "./scope.ts";

/** Returns the scope of an event's run. */
export function scopeOfEvent(
  event: AgentEvent,
  { client, runnerId, bindingId }: Pick<RunScope, "client" | "runnerId" | "bindingId">,
): RunScope {
  const { actor, subject } = event;
  return {
    client,
    runnerId,
    bindingId,
    eventId: event.eventId,
    botId: given(event.botId),
    workspaceId: given(event.workspaceId),
    conversationId: given(event.conversationId),
    threadId: given(event.threadId),
    actor: actor && party(actor.actorType, actor.actorId),
    subject: subject && party(subject.subjectType, subject.subjectId),
  };
}

function party(type: string, id: string | undefined): Party {
  return { type, id: given(id) };
}

function given(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
