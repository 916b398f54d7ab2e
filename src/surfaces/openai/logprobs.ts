// The log probabilities of a text in the forms of OpenAI's APIs.

import type { TokenLogprob, TopLogprob } from "#gen/runnel/v1/message_pb.js";
import { invalid } from "./errors.ts";
import type { Fields } from "./fields.ts";

/** Returns the log probabilities of an `output_text`. The API wants a list of bytes, also where the provider gave none. */
export function logprobsOf(logprobs: readonly TokenLogprob[]): object[] {
  return logprobs.map((each) => printLogprob(each, []));
}

/** Returns the log probabilities of a choice; null when it has none. */
export function chatLogprobsOf(logprobs: readonly TokenLogprob[]): object | null {
  return logprobs.length === 0 ? null : { content: logprobs.map((each) => printLogprob(each, null)), refusal: null };
}

function printLogprob({ top, ...chosen }: TokenLogprob, noBytes: readonly [] | null): object {
  return { ...printToken(chosen, noBytes), top_logprobs: top.map((each) => printToken(each, noBytes)) };
}

function printToken(
  { token, logprob, bytes }: Pick<TopLogprob, "token" | "logprob" | "bytes">,
  noBytes: readonly [] | null,
): object {
  return { token, logprob, bytes: bytes === undefined ? noBytes : [...bytes] };
}

/** Reads how many of the likeliest tokens a chat completion asks for; undefined when it asks for no log probabilities. */
export function readChatLogprobs(request: Fields): number | undefined {
  const isAsked = request.findFlag("logprobs") ?? false;
  const top = request.findCount("top_logprobs", 0) ?? 0;
  if (top > 0 && !isAsked) {
    throw invalid("top_logprobs", "set logprobs to true, too");
  }
  return isAsked ? top : undefined;
}

/** Reads the same of a response, which may ask by `include` alone. */
export function readLogprobs(request: Fields): number | undefined {
  const isIncluded = (request.findItems("include") ?? []).includes("message.output_text.logprobs");
  const top = request.findCount("top_logprobs", 0) ?? 0;
  return isIncluded || top > 0 ? top : undefined;
}
