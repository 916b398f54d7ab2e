// Whether what a runner says is allowed to it: by the grant of its run, which was frozen when the run started.

import type { MessageChunk } from "#gen/runnel/v1/message_pb.js";
import { messageText } from "../../sessions/message-text.ts";
import type { Grant } from "../grant.ts";
import { type RunScope, stateKey } from "../scope.ts";
import { countChars } from "./count-chars.ts";
import type { Output } from "./output.ts";
import type { RunnerPayload } from "./read-payload.ts";
import type { Disposition } from "./verdict.ts";

export interface Policy {
  readonly grant: Grant;
  readonly scope: RunScope;
}

export interface Refusal {
  readonly disposition: Extract<Disposition, "dropped_invalid" | "refused_policy">;
  readonly problem: string;
}

/** Undefined when it is allowed. The end of a run always is; its message is asked about by `refuseMessage`. */
export function refusePayload(payload: RunnerPayload, policy: Policy, output: Output): Refusal | undefined {
  switch (payload.kind) {
    case "piece":
      return refused(refusePiece(payload.chunk, policy.grant, output));
    case "message":
      return refused(refuseMessage(messageText(payload.message), policy.grant));
    case "state":
      return refuseState(payload.update.scope, policy);
    case "artifact":
    case "action":
    case "telemetry":
    case "unknown":
    case "completed":
    case "failed":
      return undefined;
    default:
      return payload satisfies never;
  }
}

/** Why a whole message is not delivered. */
export function refuseMessage(text: string, { delivery }: Grant): string | undefined {
  return delivery.reply ? refuseLength(countChars(text), delivery) : "the binding does not let messages be delivered";
}

function refusePiece(chunk: MessageChunk, { delivery }: Grant, output: Output) {
  if (!delivery.streaming) {
    return "the binding does not let pieces of messages be delivered";
  }
  // Pieces up to the next whole message are one message, or its limit would be none.
  const chars = output.streamedChars + countChars(chunk.content);
  return refuseLength(Math.max(chars, countChars(chunk.allContent ?? "")), delivery);
}

function refuseLength(chars: number, { messageCharsMax }: Grant["delivery"]): string | undefined {
  return messageCharsMax !== undefined && chars > messageCharsMax
    ? `the message has ${chars} characters, and the binding allows ${messageCharsMax}`
    : undefined;
}

function refuseState(of: Parameters<typeof stateKey>[1], { grant, scope }: Policy): Refusal | undefined {
  if (stateKey(scope, of) === undefined) {
    return { disposition: "dropped_invalid", problem: `event has no ${of}` };
  }
  return grant.stateScopes.includes(of) ? undefined : refused(`state of the scope ${of} is not granted to this run`);
}

function refused(problem: string | undefined): Refusal | undefined {
  return problem === undefined ? undefined : { disposition: "refused_policy", problem };
}
