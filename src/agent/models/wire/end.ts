// Ends a response of any format by the finish that its frames gave, never by the end of the connection alone.
//
// E1  A call is whole only when its response is: of a response that its token limit has cut, no call is given to run. Its calls are
//     named without their arguments, which may be cut too. `finishOf` finds such a response by its calls where its reason does not say it.
// E2  A call without arguments has `{}`.
// E3  A response that lost a frame gives no call: the frame may have been a piece of it, or all of it.

import { parseJson } from "../../../platform/base/json/parse-object.ts";
import type { ModelCitation, ModelPart, ModelToolCall, ModelUsage } from "../model.ts";
import { argumentsOf } from "./calls.ts";
import { describeBadFinish, describeCut, describeLostFrame } from "./failures.ts";
import type { FrameFinish } from "./frame.ts";

/** The collected facts at the end of a response. */
export interface ResponseEnd {
  readonly provider: string;
  readonly finish: FrameFinish | undefined;
  readonly calls: readonly ModelToolCall[];
  readonly usage: ModelUsage | undefined;
  readonly refusal: string;
  readonly state: string | undefined;
  /** Undefined means none. */
  readonly citations?: readonly ModelCitation[] | undefined;
  /** True when a frame before the finish was invalid JSON. */
  readonly hasLost: boolean;
  /** True when a call has begun, even if it never became whole. */
  readonly hasBegunCall: boolean;
}

/** The facts that decide how a response has ended. */
export interface ResponseFinish {
  /** Undefined when no frame gave it. */
  readonly finish: FrameFinish | undefined;
  /** Whether the server marked the end of a response with an answer, and no frame was lost. */
  readonly isMarkedWhole: boolean;
  readonly calls: readonly ModelToolCall[];
  readonly hasLost: boolean;
}

/**
 * Returns the finish of a response; undefined when it has none. Some servers mark the end and give no reason. A reason that we do
 * not know is that of a limit when the arguments of a call do not end.
 */
export function finishOf({ finish, isMarkedWhole, calls, hasLost }: ResponseFinish): FrameFinish | undefined {
  if (finish === undefined) {
    return isMarkedWhole && !calls.some(isOpen) ? { reason: "other", word: "unknown" } : undefined;
  }
  return finish.reason === "other" && !hasLost && calls.some(isOpen) ? { ...finish, reason: "length" } : finish;
}

/** Returns the calls of a complete response and exactly one finish or failure. */
export function endResponse(response: ResponseEnd): ModelPart[] {
  const { provider, finish, calls, usage, refusal, state, citations } = response;
  if (finish === undefined) {
    return [describeCut(provider)];
  }
  const { reason, word, stopSequence } = finish;
  if (reason === "failed") {
    return [describeBadFinish(provider, word)];
  }
  if (reason === "content-filter" || refusal !== "") {
    return [{ type: "finish", reason: "content-filter", detail: refusal || word, usage, state, citations }];
  }
  if (reason === "length") {
    const cut = calls.map(({ id, name }): ModelPart => ({ type: "cut-call", id, name }));
    return [...cut, { type: "finish", reason, detail: undefined, usage, state, citations }];
  }
  if (response.hasLost && (response.hasBegunCall || reason === "tool-calls")) {
    return [describeLostFrame(provider)];
  }
  // Providers send "stop", or words of their own, with responses that contain calls.
  const wantsCalls = calls.length > 0 && (reason === "stop" || reason === "other");
  const whole = calls.map((call): ModelPart => {
    return { type: "tool-call", call: { ...call, argumentsJson: argumentsOf(call.argumentsJson) } };
  });
  return [
    ...whole,
    {
      type: "finish",
      reason: wantsCalls ? "tool-calls" : reason,
      detail: undefined,
      stopSequence,
      usage,
      state,
      citations,
    },
  ];
}

function isOpen({ argumentsJson }: ModelToolCall): boolean {
  return parseJson(argumentsOf(argumentsJson)) === undefined;
}
