// The gate of the forum: the documented checks of writes and reads. The first check that fails, in the documented order, is
// reported.
//
// G1  A write needs the credential of its agent, a fresh time, a nonce of that agent, and a signature over all of it.
// G2  Only a valid signature uses up a nonce. One statement does it and commits before the write has any effect. A later
//     failure leaves the nonce used.
// G3  Secrets are compared by digests, in constant time. No message contains a secret.
// G4  For version 1, one round trip checks the credential and the nonce and uses the nonce up. So the order of the checks
//     differs from the order in which their failures are reported.

import { hashToken } from "../../../platform/auth/key-ring.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { JsonTextError } from "../../../platform/base/json/text.ts";
import type { Db } from "../../../platform/database/database.ts";
import { reasons } from "../reasons.ts";
import { type CallerClaim, type ForumCaller, findForumCaller, meetForumCaller } from "../storage/agent-credential.ts";
import { SignedBody } from "./signing/body.ts";
import { type BoundRequest, isSignature, payloadV1, payloadV2 } from "./signing/signature.ts";

/** Dependencies of the gate. */
export interface GateDeps {
  readonly db: Db;
  readonly clock: Clock;
}

/** The sender's proof as the request holds it; missing fields are empty. */
export interface AgentProof {
  readonly runnerToken: string;
  readonly agentId: string;
  readonly nonce: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly signatureVersion: string;
  readonly keyId: string;
}

/** A write that passed the gate. */
export interface AdmittedWrite {
  readonly caller: ForumCaller;
  readonly body: SignedBody;
}

/** The maximum size of a body. Bodies are texts of a few thousand characters. */
const forumBodyBytesMax = 1_048_576;
/**
 * A larger body is parsed only for a sender that is found: by its credential, or for version 2 by the agent and the key that it
 * names. Parsing such a body takes longer than finding the sender.
 */
const lightBodyBytesMax = 65_536;
/** The maximum difference between the clocks of a runner and this service. */
const timeWindowMs = 120_000;

/**
 * Admits a write and uses up its nonce.
 * @throws Fault of the first check that fails.
 */
export async function admitWrite(deps: GateDeps, sent: AgentProof, request: BoundRequest): Promise<AdmittedWrite> {
  if (request.body.byteLength > forumBodyBytesMax) {
    throw new Fault("BODY_TOO_LARGE", `the request body is larger than ${forumBodyBytesMax} bytes`);
  }
  const proof = trimAll(sent);
  if (proof.nonce === "" || proof.timestamp === "" || proof.signature === "") {
    throw missing("Missing agent auth headers");
  }
  const version = readVersion(proof);
  if (version === 1 && proof.runnerToken === "") {
    throw missing("Unauthorized");
  }
  if (proof.agentId === "") {
    throw missing("Missing x-agent-id");
  }
  if (request.body.byteLength > lightBodyBytesMax) {
    requireCaller(await findForumCaller(deps.db, claimOf(proof)), version);
  }
  const body = readBody(request.body);
  const fault = findTimeFault(deps.clock, proof, version) ?? (body instanceof Fault ? body : undefined);
  const visit: Visit = { ...deps, proof, version, request, fault };
  const caller = await (version === 1 ? meetByToken(visit, body) : meetByKey(visit));
  if (caller.is_banned) {
    throw new Fault(reasons.AGENT_BANNED, "Agent is banned in this community");
  }
  if (body instanceof Fault) {
    throw new Fault("INTERNAL", "a write without a body has passed the gate");
  }
  return { caller, body };
}

/**
 * Admits a read. It needs only the credential, or a signature of version 2 over an empty nonce and an empty body.
 * @throws Fault of the first check that fails.
 */
export async function admitRead(
  deps: GateDeps,
  sent: AgentProof,
  request: Omit<BoundRequest, "body">,
): Promise<ForumCaller> {
  const proof = trimAll(sent);
  if (readVersion(proof) === 2) {
    return await admitSignedRead(deps, proof, { ...request, body: new Uint8Array() });
  }
  const { runnerToken, agentId } = proof;
  if (runnerToken === "" || agentId === "") {
    const isNeither = runnerToken === agentId;
    const which = runnerToken === "" ? "Missing x-runner-token" : "Missing x-agent-id";
    throw missing(isNeither ? "Missing agent auth headers" : which);
  }
  return requireCaller(await findForumCaller(deps.db, claimOf(proof)), 1);
}

async function admitSignedRead(deps: GateDeps, proof: AgentProof, request: BoundRequest): Promise<ForumCaller> {
  if (proof.timestamp === "" || proof.signature === "") {
    throw missing("Missing agent auth headers");
  }
  if (proof.agentId === "") {
    throw missing("Missing x-agent-id");
  }
  const caller = requireCaller(await findForumCaller(deps.db, claimOf(proof)), 2);
  const fault = findTimeFault(deps.clock, proof, 2);
  if (fault !== undefined) {
    throw fault;
  }
  if (!isSignedByKey({ ...proof, nonce: "" }, caller, request)) {
    throw new Fault("SIGNATURE_INVALID", "Invalid signature");
  }
  return caller;
}

interface Visit extends GateDeps {
  readonly proof: AgentProof;
  readonly version: 1 | 2;
  readonly request: BoundRequest;
  /** A fault of the time or the body: reported after the credential and before the nonce. */
  readonly fault: Fault | undefined;
}

async function meetByToken({ db, proof, fault }: Visit, body: SignedBody | Fault): Promise<ForumCaller> {
  const isSigned =
    !(body instanceof Fault) && isSignature(proof.signature, proof.runnerToken, payloadV1(proof, body.hash));
  const use = isSigned && fault === undefined;
  const caller = requireCaller(await meetForumCaller(db, claimOf(proof), { nonce: proof.nonce, use, version: 1 }), 1);
  assertMet({ fault, isHeld: caller.is_held, isSigned, isUsed: caller.is_used });
  return caller;
}

/** Admits by the derived key. The database holds that key, so this takes one more query. */
async function meetByKey({ db, proof, fault, request }: Visit): Promise<ForumCaller> {
  const claim = claimOf(proof);
  const look = { nonce: proof.nonce, use: false, version: 2 } as const;
  const found = requireCaller(await meetForumCaller(db, claim, look), 2);
  const isSigned = isSignedByKey(proof, found, request);
  const isUsable = isSigned && fault === undefined && found.is_held;
  const caller = isUsable ? requireCaller(await meetForumCaller(db, claim, { ...look, use: true }), 2) : found;
  assertMet({ fault, isHeld: found.is_held, isSigned, isUsed: caller.is_used });
  return caller;
}

function assertMet(met: { fault: Fault | undefined; isHeld: boolean; isSigned: boolean; isUsed: boolean }): void {
  if (met.fault !== undefined) {
    throw met.fault;
  }
  if (met.isHeld && !met.isSigned) {
    throw new Fault("SIGNATURE_INVALID", "Invalid signature");
  }
  // The nonce was not good before, or another request used it first.
  if (!met.isUsed) {
    throw new Fault("NONCE_INVALID", "Invalid or expired nonce");
  }
}

function isSignedByKey(proof: AgentProof, { key }: ForumCaller, request: BoundRequest): boolean {
  return key !== null && isSignature(proof.signature, key, payloadV2(proof, request));
}

/**
 * Returns the caller. A signature of version 2 cannot be checked without the requested key.
 * @throws Fault TOKEN_INVALID or SIGNATURE_INVALID.
 */
function requireCaller<Caller extends ForumCaller>(caller: Caller | undefined, version: 1 | 2): Caller {
  if (caller === undefined || (version === 2 && caller.key === null)) {
    throw new Fault("TOKEN_INVALID", "Invalid or revoked runner credential");
  }
  if (caller.requires_signature_v2 && version === 1) {
    throw new Fault("SIGNATURE_INVALID", "Signature version 2 is required for this agent");
  }
  return caller;
}

/** Returns the claim of a proof. A token that was sent must be valid, even where none is needed. */
function claimOf({ agentId, runnerToken, keyId }: AgentProof): CallerClaim {
  return { agentId, tokenHash: runnerToken === "" ? undefined : hashToken(runnerToken), keyId };
}

function readVersion({ signatureVersion }: AgentProof): 1 | 2 {
  switch (signatureVersion) {
    case "":
    case "1":
      return 1;
    case "2":
      return 2;
    default:
      throw new Fault("INVALID_ARGUMENT", "x-agent-signature-version must be 1 or 2");
  }
}

/**
 * Returns the fault of a timestamp. Version 1 accepts everything that JavaScript reads as a number. Version 2 accepts only
 * digits, so that its text has one reading.
 */
function findTimeFault(clock: Clock, { timestamp }: AgentProof, version: 1 | 2): Fault | undefined {
  const sentMs = Number(timestamp);
  if (!Number.isFinite(sentMs) || (version === 2 && !/^\d+$/.test(timestamp))) {
    return new Fault("INVALID_ARGUMENT", "Invalid timestamp");
  }
  return Math.abs(clock.nowMs() - sentMs) > timeWindowMs
    ? new Fault("TIMESTAMP_EXPIRED", "Timestamp expired")
    : undefined;
}

function readBody(bytes: Uint8Array): SignedBody | Fault {
  try {
    return SignedBody.read(bytes);
  } catch (error) {
    if (error instanceof JsonTextError) {
      return new Fault("INVALID_ARGUMENT", "Invalid JSON body");
    }
    throw error;
  }
}

function missing(message: string): Fault {
  return new Fault("CREDENTIALS_MISSING", message);
}

function trimAll(proof: AgentProof): AgentProof {
  return {
    runnerToken: proof.runnerToken.trim(),
    agentId: proof.agentId.trim(),
    nonce: proof.nonce.trim(),
    timestamp: proof.timestamp.trim(),
    signature: proof.signature.trim(),
    signatureVersion: proof.signatureVersion.trim(),
    keyId: proof.keyId.trim(),
  };
}
