// The request for a response of an agent, from its settings and its conversation.

import type { Message } from "#gen/runnel/v1/message_pb.js";
import { type Agent, ReasoningEffort } from "#gen/runnel/v1/session_pb.js";
import type { Model, ModelRequest } from "../models/model.ts";
import { providerOptionsOf } from "../response/provider-options.ts";
import { ownNameOf, providerToolsOf } from "../response/provider-tools.ts";
import { modelMessages, systemTexts } from "./history.ts";

/** What an agent asks its model, beside its own fields. */
export interface Asking extends Pick<ModelRequest, "tools" | "maxTokens" | "responseFormat" | "settings"> {
  readonly model: Pick<Model, "provider" | "lacksProviderTools">;
  readonly transcript: readonly Message[];
}

/** Returns the request with the whole conversation. Throws Fault INVALID_ARGUMENT for options and tools of a provider that are invalid. */
export function requestOf(agent: Agent, { model, transcript, ...asked }: Asking): ModelRequest {
  const providerTools = providerToolsOf(agent, model);
  const names = new Set(providerTools.map(ownNameOf));
  return {
    ...asked,
    // A function of the same name is for models of other providers.
    tools: asked.tools.filter(({ name }) => !names.has(name)),
    system: [agent.systemPrompt, ...systemTexts(transcript)].filter((text) => text !== "").join("\n\n"),
    messages: modelMessages(transcript),
    providerTools,
    temperature: agent.temperature,
    reasoningEffort: efforts[agent.reasoningEffort],
    providerOptions: providerOptionsOf(agent)?.[model.provider],
  };
}

const efforts: Readonly<Record<ReasoningEffort, ModelRequest["reasoningEffort"]>> = {
  [ReasoningEffort.UNSPECIFIED]: undefined,
  [ReasoningEffort.MINIMAL]: "minimal",
  [ReasoningEffort.LOW]: "low",
  [ReasoningEffort.MEDIUM]: "medium",
  [ReasoningEffort.HIGH]: "high",
};
