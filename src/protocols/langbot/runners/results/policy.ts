// Whether what a runner says is allowed to it: by the grant of its run, which was frozen when the run started.

import { messageText } from "../../../../engine/sessions/message-text.ts";
import type { Grant } from "../grant.ts";
import { type RunScope, stateKey } from "../scope.ts";
import { countChars } from "./count-chars.ts";
import type { TakenChunk } from "./output.ts";
import type { RunnerPayload } from "./read-payload.ts";
import type { Disposition } from "./verdict.ts";

export interface Policy {
  readonly grant: Grant;
  readonly scope: RunScope;
}

/** A payload whose chunk is an increment. */
export type TakenPayload =
  | Exclude<RunnerPayload, { kind: "piece" }>
  | { readonly kind: "piece"; readonly taken: TakenChunk };

export interface Refusal {
  readonly disposition: Extract<Disposition, "dropped_invalid" | "refused_policy">;
  readonly problem: string;
}

/** Undefined when it is allowed. The end of a run always is; `refuseMessage` judges its message. */
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

/** Why a whole message is not delivered. */
export function refuseMessage(text: string, { delivery }: Grant): string | undefined {
  return delivery.reply ? refuseLength(countChars(text), delivery) : "the binding does not let messages be delivered";
}

function refuseChunk({ chars }: TakenChunk, { delivery }: Grant): string | undefined {
  if (!delivery.streaming) {
    return "the binding does not let pieces of messages be delivered";
  }
  // Chunks up to the next whole message count as one message: `is_final` alone would not end anything that is limited.
  return refuseLength(chars, delivery);
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
