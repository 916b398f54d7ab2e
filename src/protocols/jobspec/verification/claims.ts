// Checks the claims of a spec of version 2, which are inside the signed bytes: its expiry and its audience.
// C1  Both are required, as in a JWT. `exp` is in whole seconds since 1970, and the spec is expired at that second. `aud` is
//     one text or a list.

import type { Json, JsonObject } from "./json.ts";
import { SpecFault } from "./spec-fault.ts";

/** The maximum number of audiences of one spec. */
const audiencesMax = 16;

/** Checks `exp` and `aud`. Throws a `SpecFault` when one is missing, invalid, expired or names another service. */
export function checkClaims(signable: JsonObject, { nowMs, audience }: { nowMs: number; audience: string }): void {
  const exp = requireClaim(signable, "exp");
  if (typeof exp !== "number" || !Number.isSafeInteger(exp) || exp < 0) {
    throw new SpecFault("invalid_field:exp", "exp must be an integer: seconds since 1970");
  }
  const audiences = readAudiences(requireClaim(signable, "aud"));
  if (nowMs >= exp * 1000) {
    throw new SpecFault("expired", "the spec has expired (exp): sign it again with a later exp");
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
