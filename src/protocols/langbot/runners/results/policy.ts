// Checks whether the grant of a run allows a result. The grant is frozen when the run starts.

import { messageText } from "../../../../engine/sessions/message-text.ts";
import type { Grant } from "../grant.ts";
import { type RunScope, stateKey } from "../scope.ts";
import { countChars } from "./count-chars.ts";
import type { TakenChunk } from "./output.ts";
import type { RunnerPayload } from "./read-payload.ts";
import type { Disposition } from "./verdict.ts";

/** The grant and the scope of a run. */
export interface Policy {
  readonly grant: Grant;
  readonly scope: RunScope;
}

/** A payload whose chunk is an increment. */
export type TakenPayload =
  | Exclude<RunnerPayload, { kind: "piece" }>
  | { readonly kind: "piece"; readonly taken: TakenChunk };

/** A refused result. */
export interface Refusal {
  readonly disposition: Extract<Disposition, "dropped_invalid" | "refused_policy">;
  readonly problem: string;
}

/** Returns undefined when the payload is allowed. The end of a run always is; `refuseMessage` checks its message. */
export function refusePayload(payload: TakenPayload, policy: Policy): Refusal | undefined {
  switch (payload.kind) {
    case "piece":
      return refused(refuseChunk(payload.taken, policy.grant));
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

/** Returns why a whole message is not delivered; undefined when it is allowed. */
export function refuseMessage(text: string, { delivery }: Grant): string | undefined {
  return delivery.reply
    ? refuseLength(countChars(text), delivery)
    : "the binding does not allow the delivery of messages";
}

function refuseChunk({ chars }: TakenChunk, { delivery }: Grant): string | undefined {
  if (!delivery.streaming) {
    return "the binding does not allow the delivery of message chunks";
  }
  // Chunks up to the next whole message count as one message: `is_final` alone does not reset the limit.
  return refuseLength(chars, delivery);
}

function refuseLength(chars: number, { messageCharsMax }: Grant["delivery"]): string | undefined {
  return messageCharsMax !== undefined && chars > messageCharsMax
    ? `the message has ${chars} characters: the binding allows ${messageCharsMax}`
    : undefined;
}

function refuseState(of: Parameters<typeof stateKey>[1], { grant, scope }: Policy): Refusal | undefined {
  if (stateKey(scope, of) === undefined) {
    return { disposition: "dropped_invalid", problem: `event has no ${of}` };
  }
  return grant.stateScopes.includes(of) ? undefined : refused(`state of scope ${of} is not granted to this run`);
}

function refused(problem: string | undefined): Refusal | undefined {
  return problem === undefined ? undefined : { disposition: "refused_policy", problem };
}
