// Reads the frames of streamGenerateContent: errors, usage figures, and why a response ended. Pure.

import type { FinishReason, ModelUsage } from "../model.ts";
import { asCount, asRecord, type FrameFinish } from "../wire/frame.ts";

/** The members of an object of a frame. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns an empty list for any other value. */
export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Reads the error of a frame; undefined when it has none. An error has an HTTP status as `code` and a name of google.rpc.Code as
 * `status`. Gateways leave the number out or send the number of google.rpc.Code. An unknown name does not count as a refusal of
 * the request.
 */
export function readError(error: unknown): unknown {
  const fields = asRecord(error);
  if (Number(fields.code) >= 400 || typeof fields.status !== "string") {
    return error ?? undefined;
  }
  return { ...fields, code: httpStatuses.get(fields.status) };
}

const httpStatuses: ReadonlyMap<unknown, number> = new Map([
  ["INVALID_ARGUMENT", 400],
  ["FAILED_PRECONDITION", 400],
  ["OUT_OF_RANGE", 400],
  ["UNAUTHENTICATED", 401],
  ["PERMISSION_DENIED", 403],
  ["NOT_FOUND", 404],
  ["ALREADY_EXISTS", 409],
  ["RESOURCE_EXHAUSTED", 429],
  ["INTERNAL", 500],
  ["UNIMPLEMENTED", 501],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
]);

/** Returns the token that asks for the rest of a long answer; undefined when the answer does not go on. */
export function readContinuation({ finishReason, continuationToken }: Fields): string | undefined {
  return finishReason === "CONTINUATION" && typeof continuationToken === "string" ? continuationToken : undefined;
}

/**
 * Returns the finish of a frame, or undefined when it has none. Answers end with STOP or MAX_TOKENS. All other reasons, including
 * future ones, mean that something went wrong.
 */
export function readFinish(feedback: Fields, candidate: Fields): FrameFinish | undefined {
  const { blockReason } = feedback;
  if (isWord(blockReason)) {
    const word = explain(blockReason, feedback.safetyRatings, feedback.blockReasonMessage);
    return { reason: "content-filter", word };
  }
  const { finishReason } = candidate;
  if (!isWord(finishReason)) {
    return undefined;
  }
  const word = explain(finishReason, candidate.safetyRatings, candidate.finishMessage);
  return { reason: finishReasons.get(finishReason) ?? "failed", word };
}

const finishReasons: ReadonlyMap<string, FinishReason> = new Map([
  ["STOP", "stop"],
  ["MAX_TOKENS", "length"],
  ["CONTINUATION", "length"],
  ["SAFETY", "content-filter"],
  ["RECITATION", "content-filter"],
  ["LANGUAGE", "content-filter"],
  ["BLOCKLIST", "content-filter"],
  ["PROHIBITED_CONTENT", "content-filter"],
  ["SPII", "content-filter"],
  ["IMAGE_SAFETY", "content-filter"],
  ["IMAGE_RECITATION", "content-filter"],
  ["IMAGE_PROHIBITED_CONTENT", "content-filter"],
]);

function isWord(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && !reason.endsWith("_UNSPECIFIED");
}

/** Returns for example `SAFETY (HARM_CATEGORY_HARASSMENT): more words`. */
function explain(word: string, ratings: unknown, message: unknown): string {
  const categories = asArray(ratings)
    .filter(isBlocking)
    .map((rating) => asRecord(rating).category);
  const where = categories.length === 0 ? "" : ` (${categories.join(", ")})`;
  const why = typeof message === "string" && message !== "" ? `: ${message}` : "";
  return (word + where + why).slice(0, explanationCharsMax);
}

/** A message may quote the model's invalid call in full. */
const explanationCharsMax = 1000;

// Ratings of prompts do not say which category blocked them; by default categories from MEDIUM on do.
function isBlocking(rating: unknown): boolean {
  const { blocked, probability } = asRecord(rating);
  return blocked === undefined ? probability === "HIGH" || probability === "MEDIUM" : blocked === true;
}

/**
 * Returns the usage of a frame, or undefined when it has none. Tokens that the provider's tools read count as prompt tokens, and
 * thoughts as completion tokens, because both are charged.
 */
export function readUsage(counts: Fields): ModelUsage | undefined {
  const usage = {
    promptTokens: sum(asCount(counts.promptTokenCount), asCount(counts.toolUsePromptTokenCount)),
    completionTokens: sum(asCount(counts.candidatesTokenCount), asCount(counts.thoughtsTokenCount)),
    totalTokens: asCount(counts.totalTokenCount),
    cachedTokens: asCount(counts.cachedContentTokenCount),
    reasoningTokens: asCount(counts.thoughtsTokenCount),
  };
  // Some frames say only how the request was billed.
  return Object.values(usage).every((tokens) => tokens === undefined) ? undefined : usage;
}

/** Returns the usage of two requests together. */
export function addUsage(one: ModelUsage | undefined, other: ModelUsage | undefined): ModelUsage | undefined {
  if (one === undefined || other === undefined) {
    return one ?? other;
  }
  return {
    promptTokens: sum(one.promptTokens, other.promptTokens),
    completionTokens: sum(one.completionTokens, other.completionTokens),
    totalTokens: sum(one.totalTokens, other.totalTokens),
    cachedTokens: sum(one.cachedTokens, other.cachedTokens),
    reasoningTokens: sum(one.reasoningTokens, other.reasoningTokens),
  };
}

function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : one + other;
}
