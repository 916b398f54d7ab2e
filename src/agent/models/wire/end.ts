// How a response ends, whatever its format: by what its frames said of the end, never by the end of the connection alone.

import type { ModelPart, ModelUsage } from "../model.ts";
import { describeBadFinish, describeCut } from "./failures.ts";
import type { FrameFinish } from "./frame.ts";

export interface ResponseEnd {
  readonly provider: string;
  readonly finish: FrameFinish | undefined;
  readonly calls: readonly ModelPart[];
  readonly usage: ModelUsage | undefined;
  readonly refusal: string;
  readonly state: string | undefined;
}

/** Exactly one finish or one failure, after the calls that it makes good. */
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
  // Providers say "stop", or words of their own, beside calls that they want made.
  const wantsCalls = calls.length > 0 && (reason === "stop" || reason === "other");
  return [...calls, { type: "finish", reason: wantsCalls ? "tool-calls" : reason, detail: undefined, usage, state }];
}
