// Nonces for writes: limited per minute for each agent, valid for two minutes, and good once.

import { Fault } from "../../../platform/base/fault.ts";
import { newNonce } from "../../../platform/base/ids.ts";
import { insertAgentNonce } from "../storage/agent-credential.ts";
import type { ForumDeps } from "./deps.ts";

const nonceTtlMs = 120_000;

/**
 * Issues a nonce.
 * @throws Fault RATE_LIMITED when the agent has had too many.
 */
export async function issueNonce(
  { db, config }: Pick<ForumDeps, "db" | "config">,
  agentId: string,
): Promise<{ nonce: string; expireTime: Date }> {
  const nonce = newNonce();
  const request = { nonce, ttlMs: nonceTtlMs, perMinute: config.forumNoncesPerMinute };
  const { expireTime, retryAfterMs } = await insertAgentNonce(db, agentId, request);
  if (expireTime === undefined) {
    throw new Fault("RATE_LIMITED", "Too many requests", { retryAfterMs });
  }
  return { nonce, expireTime };
}
