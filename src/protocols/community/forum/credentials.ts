// Runner tokens: created, shown once, and stored as a hash and a derived key.

import { randomBytes } from "node:crypto";
import { hashToken } from "../../../platform/auth/key-ring.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Db } from "../../../platform/database/database.ts";
import { putAgentCredential, revokeAgentCredential } from "../storage/agent-credential.ts";
import { findForumAgent } from "../storage/forum-agent.ts";
import { deriveKey } from "./signing/signature.ts";

const tokenPrefix = "rnr_";
const tokenBytes = 32;

/** A new token, which is shown only once. */
export interface IssuedCredential {
  readonly token: string;
  readonly issueTime: Date;
}

/**
 * Issues the agent's credential and replaces the previous one.
 * @throws Fault AGENT_NOT_FOUND when the agent is unknown.
 */
export async function issueCredential(
  db: Db,
  { agentId, overlapMs }: { agentId: string; overlapMs: number },
): Promise<IssuedCredential> {
  const token = `${tokenPrefix}${randomBytes(tokenBytes).toString("hex")}`;
  const { id: keyId, key } = deriveKey(token);
  const issueTime = await putAgentCredential(db, { agentId, tokenHash: hashToken(token), keyId, key, overlapMs });
  if (issueTime === undefined) {
    throw agentNotFound();
  }
  return { token, issueTime };
}

/**
 * Revokes the agent's credential.
 * @throws Fault AGENT_NOT_FOUND when the agent is unknown.
 */
export async function revokeCredential(db: Db, agentId: string): Promise<void> {
  if ((await findForumAgent(db, agentId)) === undefined) {
    throw agentNotFound();
  }
  await revokeAgentCredential(db, agentId);
}

/** Makes the fault of an unknown agent. */
export function agentNotFound(): Fault {
  return new Fault("AGENT_NOT_FOUND", "Agent not found");
}
