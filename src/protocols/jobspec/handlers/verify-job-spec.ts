// The handler of VerifyJobSpec: reports on a spec, with the same code that judges jobs.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { VerifyJobSpecRequest, VerifyJobSpecResponseSchema } from "#gen/runnel/job/v1/trust_service_pb.js";
import type { Clock } from "../../../platform/base/clock.ts";
import { byTurns } from "../../../platform/base/steps.ts";
import type { Config } from "../../../platform/config/keys.ts";
import { toFault } from "../jobs/refusal.ts";
import { lookForSpec, type Trust } from "../jobs/trust.ts";
import type { TextDifference } from "../verification/diagnosis/diagnose.ts";
import { type Report, reportBySteps } from "../verification/report.ts";
import { readBody, unwrap } from "../verification/request.ts";
import { SpecFault } from "../verification/spec-fault.ts";

/** Dependencies of the handler. */
export interface VerifyDeps {
  readonly clock: Clock;
  readonly config: Config;
  readonly trust: Pick<Trust, "look">;
}

/** Escapes make canonical text up to six times as long as the spec, and an answer has to fit into a message. */
const canonicalBytesMax = 1_048_576;

type Answer = MessageInitShape<typeof VerifyJobSpecResponseSchema>;

/** Reports on the spec of a request. Throws the Fault of a body that holds no JSON object. */
export async function verifyJobSpec(
  deps: VerifyDeps,
  { document, signedBytes }: VerifyJobSpecRequest,
): Promise<Answer> {
  const body = document?.data ?? new Uint8Array();
  try {
    return present(await report(deps, body, signedBytes));
  } catch (error) {
    throw error instanceof SpecFault ? toFault(error) : error;
  }
}

async function report(
  { clock, config, trust }: VerifyDeps,
  body: Uint8Array,
  signedBytes: Uint8Array,
): Promise<Report> {
  const answer = await lookForSpec(trust, unwrap(readBody(body)).document, { client: undefined });
  const rules = {
    nowMs: clock.nowMs(),
    requiresMetadata: config.trustEnforce,
    enforcesTrust: config.trustEnforce,
    audience: config.trustAudience,
    acceptDroppedEmptyStrings: config.trustAcceptDroppedEmptyStrings,
    allowedRegions: config.jobsRegions,
    judge: () => answer,
  };
  return await byTurns(reportBySteps(body, rules, signedBytes.length === 0 ? undefined : signedBytes));
}

function present({ refusal, trust, mistakes, warnings, given, ...report }: Report): Answer {
  return {
    verify: report.verify,
    serverCanonicalLen: BigInt(report.canonicalBytes),
    serverCanonicalSha256: report.canonicalSha256,
    hasExecutionType: report.hasExecutionType,
    hasEstimatedCost: report.hasEstimatedCost,
    hasCreatedAt: report.hasCreatedAt,
    ...(refusal !== undefined && { errorCode: refusal.code, reason: refusal.message }),
    pitfalls: mistakes.map(({ pitfall }) => pitfall),
    advice: mistakes.map(({ advice }) => advice),
    ...(report.canonicalBytes <= canonicalBytesMax && { canonical: report.canonical }),
    ...(trust !== undefined && { trust: trust.status, kid: trust.kid ?? "" }),
    signatureVersion: report.version,
    warnings: warnings.map(({ sentence }) => sentence),
    ...(given?.difference !== undefined && { difference: differenceToProto(given.difference) }),
  };
}

function differenceToProto({ at, ...texts }: TextDifference) {
  return { offset: BigInt(at), ...texts };
}
