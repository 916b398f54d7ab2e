// Reads the frames of streamGenerateContent. Usage and finish reason are cumulative in each frame. A long answer may take several
// requests, so each response needs its own dialect.

import type { FinishReason, ModelUsage } from "../model.ts";
import type { Dialect } from "../sdk/dialect.ts";
import { asCount, asRecord, type FrameFinish } from "../wire/frame.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Returns the dialect for one response. */
export function createContentDialect(): Dialect {
  // The usage counts one request; a long answer may take several requests.
  let earlier: ModelUsage | undefined;
  let current: ModelUsage | undefined;
  const count = (counts: Fields, candidate: Fields): ModelUsage | undefined => {
    const newer = readUsage(counts);
    current = newer ?? current;
    const usage = newer && addUsage(earlier, newer);
    if (isContinued(candidate)) {
      earlier = addUsage(earlier, current);
      current = undefined;
    }
    return usage;
  };
  return {
    readFrame: (value) => {
      // Some errors arrive as an array with one element.
      const fields = asRecord(Array.isArray(value) ? value[0] : value);
      const candidate = asRecord(asArray(fields.candidates)[0]);
      const parts = asArray(asRecord(candidate.content).parts);
      return {
        error: readError(fields.error) ?? (parts.some(isNamelessCall) ? namelessCall : undefined),
        finish: readFinish(asRecord(fields.promptFeedback), candidate),
        usage: count(asRecord(fields.usageMetadata), candidate),
        hasContent: parts.length > 0,
      };
    },
    signsPieces: true,
  };
}

// The SDK skips such a call, so a response that lost it would look complete.
const namelessCall = { message: "a function call has no name" };

function isNamelessCall(part: unknown): boolean {
  const { functionCall } = asRecord(part);
  return functionCall !== undefined && typeof asRecord(functionCall).name !== "string";
}

// An error in the stream has an HTTP status as `code` and a name of google.rpc.Code as `status`. Gateways leave the number out
// or send the number of google.rpc.Code. An unknown name does not count as a refusal of the request.
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

function readError(error: unknown): unknown {
  const fields = asRecord(error);
  if (Number(fields.code) >= 400 || typeof fields.status !== "string") {
    return error ?? undefined;
  }
  return { ...fields, code: httpStatuses.get(fields.status) };
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

// Answers end with STOP or MAX_TOKENS. All other reasons, including future ones, mean that something went wrong.
function readFinish(feedback: Fields, candidate: Fields): FrameFinish | undefined {
  const { blockReason } = feedback;
  if (isWord(blockReason)) {
    return {
      reason: "content-filter",
      word: explain(blockReason, feedback.safetyRatings, feedback.blockReasonMessage),
    };
  }
  const { finishReason } = candidate;
  if (!isWord(finishReason) || isContinued(candidate)) {
    return undefined;
  }
  const word = explain(finishReason, candidate.safetyRatings, candidate.finishMessage);
  return { reason: finishReasons.get(finishReason) ?? "failed", word };
}

function isWord(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && !reason.endsWith("_UNSPECIFIED");
}

// The SDK requests the rest by itself and appends it to the same stream, so the stream has not ended.
function isContinued({ finishReason, continuationToken }: Fields): boolean {
  return finishReason === "CONTINUATION" && typeof continuationToken === "string";
}

// Returns for example "SAFETY (HARM_CATEGORY_HARASSMENT): more words".
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

// Tokens that the provider's tools read count as prompt tokens, and thoughts as completion tokens, because both are charged.
function readUsage(counts: Fields): ModelUsage | undefined {
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

function addUsage(one: ModelUsage | undefined, other: ModelUsage | undefined): ModelUsage | undefined {
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

function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
