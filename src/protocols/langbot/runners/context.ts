// Builds the context of a run: the event, the resources that its runner may use, and handles to the past. Never the past
// itself.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type AgentRunContext,
  AgentRunContextSchema,
  type AgentRunStateSchema,
  type ContextAccessSchema,
  type ConversationContextSchema,
} from "#gen/runnel/runner/v1/agent_run_context_pb.js";
import type { Binding } from "#gen/runnel/runner/v1/binding_pb.js";
import type { AgentEvent } from "#gen/runnel/runner/v1/event_pb.js";
import type { StateEntry } from "../storage/state-snapshot.ts";
import type { Authorized } from "./authorize.ts";
import { configOf } from "./binding.ts";
import type { Api } from "./grant.ts";
import type { RunScope, StateScope } from "./scope.ts";

/** The inputs of a context. */
export interface ContextParts {
  readonly runId: string;
  readonly event: AgentEvent;
  readonly scope: RunScope;
  readonly binding: Binding;
  readonly authorized: Authorized;
  /** The stored state of the granted scopes. */
  readonly state: StateSnapshot;
  /** Undefined for an event without a conversation. */
  readonly past: ConversationPast | undefined;
  readonly deadlineMs: number;
  /** The id of the trace that the run belongs to. Undefined when its client sent no trace. */
  readonly traceId: string | undefined;
  readonly hostVersion: string;
}

/** The stored state of each scope. */
export type StateSnapshot = Readonly<Partial<Record<StateScope, readonly StateEntry[]>>>;

/** The position of an event in its conversation. */
export interface ConversationPast {
  readonly eventSeq: number;
  /** The number of the event's message; undefined for an event without a message. */
  readonly itemSeq: number | undefined;
  readonly hasHistoryBefore: boolean;
  readonly latestCursor: string;
}

/** Builds the context that a runner gets. */
export function buildContext(parts: ContextParts): AgentRunContext {
  const { event, authorized, binding } = parts;
  const { eventId, eventType, eventTime, sourceEventType, rawRef, data } = event;
  return create(AgentRunContextSchema, {
    runId: parts.runId,
    trigger: event.trigger ?? { type: eventType, source: "api" },
    event: {
      eventId,
      eventType,
      source: event.source || defaultSource,
      data: data ?? "{}",
      ...(eventTime !== undefined && { eventTime }),
      ...(sourceEventType !== undefined && { sourceEventType }),
      ...(rawRef !== undefined && { rawRef }),
    },
    ...conversationOf(parts),
    ...(event.actor !== undefined && { actor: event.actor }),
    ...(event.subject !== undefined && { subject: event.subject }),
    input: event.input ?? {},
    delivery: { ...event.delivery, surface: event.delivery?.surface || defaultSource },
    resources: authorized.resources,
    context: accessOf(parts),
    state: stateOf(parts),
    runtime: {
      langbotVersion: parts.hostVersion,
      traceId: parts.traceId ?? parts.runId,
      deadlineAt: parts.deadlineMs / 1_000,
      metadata: runtimeMetadata(parts),
    },
    config: configOf(binding),
    ...(event.adapterExtra !== undefined && { adapter: { extra: event.adapterExtra } }),
    metadata: "{}",
  });
}

/** The default source of an event, and the default surface of its answers. */
export const defaultSource = "api";

function conversationOf({ event, scope }: ContextParts) {
  const { conversationId, threadId, botId, workspaceId } = scope;
  if (conversationId === undefined) {
    return {};
  }
  const { launcherType, launcherId } = event;
  const conversation: MessageInitShape<typeof ConversationContextSchema> = {
    conversationId,
    ...(threadId !== undefined && { threadId }),
    ...(launcherType !== undefined && { launcherType }),
    ...(launcherId !== undefined && { launcherId }),
    ...(botId !== undefined && { botId }),
    ...(workspaceId !== undefined && { workspaceId }),
  };
  return { conversation };
}

function accessOf({ scope, past, authorized }: ContextParts): MessageInitShape<typeof ContextAccessSchema> {
  const granted = new Set<Api>(authorized.grant.apis);
  return {
    ...(scope.conversationId !== undefined && { conversationId: scope.conversationId }),
    ...(scope.threadId !== undefined && { threadId: scope.threadId }),
    ...(past !== undefined && {
      latestCursor: past.latestCursor,
      eventSeq: BigInt(past.eventSeq),
      ...(past.itemSeq !== undefined && { transcriptSeq: BigInt(past.itemSeq) }),
    }),
    hasHistoryBefore: past?.hasHistoryBefore ?? false,
    inlinePolicy: { mode: "current_event" },
    availableApis: {
      historyPage: granted.has("history_page"),
      historySearch: granted.has("history_search"),
      eventGet: granted.has("event_get"),
      eventPage: granted.has("event_page"),
      artifactMetadata: granted.has("artifact_metadata"),
      artifactRead: granted.has("artifact_read"),
      state: granted.has("state"),
      storage: granted.has("storage"),
      runGet: true,
    },
  };
}

/** The protocol's own key. Under it, runners of other programs keep their id of the conversation. */
const conversationIdKey = "external.conversation_id";

function stateOf({ state, scope, authorized }: ContextParts): MessageInitShape<typeof AgentRunStateSchema> {
  const conversation = state.conversation ?? [];
  const { conversationId } = scope;
  const isSeeded =
    conversationId !== undefined &&
    authorized.grant.stateScopes.includes("conversation") &&
    !conversation.some(({ key }) => key === conversationIdKey);
  const seed = isSeeded ? [{ key: conversationIdKey, value: JSON.stringify(conversationId) }] : [];
  return {
    conversation: objectOf([...seed, ...conversation]),
    actor: objectOf(state.actor),
    subject: objectOf(state.subject),
    runner: objectOf(state.runner),
  };
}

function objectOf(entries: readonly StateEntry[] = []): string {
  return `{${entries.map(({ key, value }) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

function runtimeMetadata({ event, scope, authorized }: ContextParts): string {
  return JSON.stringify({
    streaming_supported: authorized.grant.delivery.streaming && (event.delivery?.supportsStreaming ?? false),
    bot_id: scope.botId,
    workspace_id: scope.workspaceId,
    model_context_window_tokens: authorized.contextTokens,
  });
}
