// The Response object of OpenAI's API.

import type { Usage } from "#gen/runnel/v1/usage_pb.js";
import type { Origin } from "./echo.ts";
import { conversationIdOf, responseIdOf, secondsOf } from "./ids.ts";

/** The state of a response. */
export type ResponseStatus = "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled";

/** The parts of a response that its log decides. */
export interface Progress {
  readonly status: ResponseStatus;
  readonly output: readonly object[];
  readonly completedAt: number | null;
  readonly error: object | null;
  readonly incompleteDetails: object | null;
  readonly usage: object | null;
}

/** Returns the Response. Fields that have no value here are null. */
export function responseObject({ runId, after, sessionId, agent, echo }: Origin, progress: Progress): object {
  const { hasInstructions, hasState: _, ...repeated } = echo;
  return {
    id: responseIdOf(runId, after),
    object: "response",
    created_at: secondsOf(runId),
    status: progress.status,
    completed_at: progress.completedAt,
    error: progress.error,
    incomplete_details: progress.incompleteDetails,
    instructions: hasInstructions ? (agent?.systemPrompt ?? null) : null,
    max_output_tokens: agent?.maxTokens || null,
    max_tool_calls: null,
    model: agent?.model ?? "",
    output: progress.output,
    parallel_tool_calls: agent?.parallelToolCalls ?? true,
    conversation: { id: conversationIdOf(sessionId) },
    service_tier: "default",
    temperature: agent?.temperature ?? null,
    text: { format: { type: "text" } },
    top_logprobs: agent?.topLogprobs ?? null,
    top_p: agent?.topP ?? null,
    truncation: "disabled",
    usage: progress.usage,
    ...repeated,
    ...(after > 0 && { previous_response_id: responseIdOf(runId) }),
  };
}

/** Returns the usage of a run; null when its provider reported none. */
export function usageObject(usage: Usage | undefined): object | null {
  if (usage === undefined) {
    return null;
  }
  const input = Number(usage.promptTokens ?? 0);
  const output = Number(usage.completionTokens ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Number(usage.cachedTokens ?? 0), cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: Number(usage.reasoningTokens ?? 0) },
    total_tokens: input + output,
  };
}

/** Returns the usage of a chat completion. */
export function chatUsageObject(usage: Usage | undefined): object {
  const prompt = Number(usage?.promptTokens ?? 0);
  const completion = Number(usage?.completionTokens ?? 0);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: Number(usage?.cachedTokens ?? 0) },
    completion_tokens_details: { reasoning_tokens: Number(usage?.reasoningTokens ?? 0) },
  };
}
