// Ends a response of any format by the finish that its frames gave, never by the end of the connection alone.

import type { ModelPart, ModelUsage } from "../model.ts";
import { describeBadFinish, describeCut } from "./failures.ts";
import type { FrameFinish } from "./frame.ts";

/** The collected facts at the end of a response. */
export interface ResponseEnd {
  readonly provider: string;
  readonly finish: FrameFinish | undefined;
  readonly calls: readonly ModelPart[];
  readonly usage: ModelUsage | undefined;
  readonly refusal: string;
  readonly state: string | undefined;
}

/** Returns the calls of a complete response and exactly one finish or failure. */
export function endResponse({ provider, finish, calls, usage, refusal, state }: ResponseEnd): ModelPart[] {
  if (finish === undefined) {
    return [describeCut(provider)];
  }
  const { reason, word } = finish;
  if (reason === "failed") {
    return [describeBadFinish(provider, word)];
  }
  if (reason === "content-filter" || refusal !== "") {
    return [{ type: "finish", reason: "content-filter", detail: refusal || word, usage, state }];
  }
  // Providers send "stop", or words of their own, with responses that contain calls.
  const wantsCalls = calls.length > 0 && (reason === "stop" || reason === "other");
  return [...calls, { type: "finish", reason: wantsCalls ? "tool-calls" : reason, detail: undefined, usage, state }];
}
