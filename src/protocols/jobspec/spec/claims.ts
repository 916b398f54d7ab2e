// What a spec of version 2 says about itself inside the signed bytes: until when it is good, and for whom.
// C1  Both are required. As in a JWT, `exp` is in whole seconds since 1970 and is itself too late; `aud` is one text or a list.

import type { Json, JsonObject } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

/** Audiences of one spec. */
const audiencesMax = 16;

/** Throws a `SpecFault`. */
export function checkClaims(signable: JsonObject, { nowMs, audience }: { nowMs: number; audience: string }): void {
  const exp = requireClaim(signable, "exp");
  if (typeof exp !== "number" || !Number.isSafeInteger(exp) || exp < 0) {
    throw new SpecFault("invalid_field:exp", "exp must be an integer: seconds since 1970");
  }
  const audiences = readAudiences(requireClaim(signable, "aud"));
  if (nowMs >= exp * 1000) {
    throw new SpecFault("expired", "the spec's time (exp) is over: sign it again with a later one");
  }
  if (!audiences.includes(audience)) {
    throw new SpecFault("wrong_audience", `aud must name this service: ${JSON.stringify(audience)}`);
  }
}

function requireClaim(signable: JsonObject, name: "exp" | "aud"): Json {
  const value = signable.get(name) ?? undefined;
  if (value === undefined) {
    throw new SpecFault(`missing_field:${name}`, `${name} is required in version 2`);
  }
  return value;
}

function readAudiences(value: Json): readonly Json[] {
  const audiences = Array.isArray(value) ? value : [value];
  const areTexts = audiences.every((each) => typeof each === "string" && each !== "");
  if (!areTexts || audiences.length === 0 || audiences.length > audiencesMax) {
    throw new SpecFault("invalid_field:aud", `aud must be text, or a list of 1 to ${audiencesMax} texts`);
  }
  return audiences;
}
