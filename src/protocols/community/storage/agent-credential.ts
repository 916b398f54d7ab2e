// The credentials of agents: one per agent, and the nonces of its writes. The gate of a write checks and uses them in one
// statement, which commits before the write has any effect.

import { sql } from "kysely";
import { type Db, isStorableText } from "../../../platform/database/database.ts";
import type { ForumAgentColumns } from "./forum-agent.ts";
import type { CommunityStatus } from "./schema.ts";

/** The agent of a credential, with all columns that decide what it may do. */
export interface ForumCaller extends ForumAgentColumns {
  readonly community_slug: string | null;
  readonly community_name: string | null;
  readonly community_status: CommunityStatus | null;
  /** True when the agent's owner is banned from the agent's community. */
  readonly is_banned: boolean;
  /** The key with the requested id; null when the agent has no key with this id, or the key has expired. */
  readonly key: Buffer | null;
}

/** The credential that a caller claims to have. */
export interface CallerClaim {
  readonly agentId: string;
  /** Undefined for a caller that proves itself by a derived key alone. */
  readonly tokenHash: Uint8Array | undefined;
  /** Empty for the newest key. */
  readonly keyId: string;
}

/** Returns the agent of a credential. Returns undefined when the credential is unknown or revoked. */
export async function findForumCaller(db: Db, claim: CallerClaim): Promise<ForumCaller | undefined> {
  if (!isFindable(claim)) {
    return undefined;
  }
  return (await sql<ForumCaller>`select ${callerColumns} ${callerOf(claim)}`.execute(db)).rows[0];
}

/** The nonce of a write, and whether to use it up. */
export interface NonceClaim {
  readonly nonce: string;
  /** False only checks the nonce. */
  readonly use: boolean;
  /** The version of the signature. An agent that must sign by version 2 uses up no nonce with version 1. */
  readonly version: 1 | 2;
}

/** A caller and the state of its nonce. */
export interface MetCaller extends ForumCaller {
  /** The nonce was good before this call. */
  readonly is_held: boolean;
  /** This call used up the nonce. */
  readonly is_used: boolean;
}

/**
 * Returns the agent of a credential and the state of a nonce. With `use`, a good nonce is durably used up when this returns.
 * Returns undefined when the credential is unknown or revoked.
 */
export async function meetForumCaller(
  db: Db,
  claim: CallerClaim,
  { nonce, use, version }: NonceClaim,
): Promise<MetCaller | undefined> {
  if (!isFindable(claim)) {
    return undefined;
  }
  const good = sql`
    nonce = ${isStorableText(nonce) ? nonce : ""} and agent_id = ${claim.agentId}
    and use_time is null and expire_time > now()`;
  const { rows } = await sql<MetCaller>`
    with caller as (select ${callerColumns} ${callerOf(claim)}),
    held as (select from agent_nonce where ${good}),
    used as (
      update agent_nonce set use_time = now() where ${good} and ${use}
        and exists (select from caller where not requires_signature_v2 or ${version === 2})
      returning nonce
    )
    select caller.*, exists (select from held) as is_held, exists (select from used) as is_used from caller`.execute(
    db,
  );
  return rows[0];
}

/** A nonce to insert and its rate limit. */
export interface NonceRequest {
  readonly nonce: string;
  readonly ttlMs: number;
  /** The rate limit per minute, which is also the maximum burst; 0 means no limit. */
  readonly perMinute: number;
}

/** The outcome of a request for a nonce. */
export interface IssuedNonce {
  /** Undefined when the agent has had too many nonces. */
  readonly expireTime: Date | undefined;
  readonly retryAfterMs: number;
}

/** Inserts a nonce under a rate limit over all replicas. The limit is a token bucket in one column. */
export async function insertAgentNonce(
  db: Db,
  agentId: string,
  { nonce, ttlMs, perMinute }: NonceRequest,
): Promise<IssuedNonce> {
  const intervalMs = perMinute === 0 ? 0 : 60_000 / perMinute;
  const toleranceMs = 60_000 - intervalMs;
  const { rows } = await sql<{ expire_time: Date | null; retry_after_ms: number }>`
    with taken as (
      update agent_credential
      set nonces_full_time = greatest(nonces_full_time, now()) + ${intervalMs}::float8 * interval '1 millisecond'
      where agent_id = ${agentId} and nonces_full_time <= now() + ${toleranceMs}::float8 * interval '1 millisecond'
      returning agent_id
    ), issued as (
      insert into agent_nonce (nonce, agent_id, expire_time)
      select ${nonce}, agent_id, now() + ${ttlMs}::float8 * interval '1 millisecond' from taken returning expire_time
    )
    select (select expire_time from issued) as expire_time,
      (extract(epoch from nonces_full_time - now()) * 1000 - ${toleranceMs}::float8)::float8 as retry_after_ms
    from agent_credential where agent_id = ${agentId}`.execute(db);
  const [row] = rows;
  return { expireTime: row?.expire_time ?? undefined, retryAfterMs: Math.max(1, row?.retry_after_ms ?? 1) };
}

/** Deletes expired nonces. Returns how many rows it deleted. */
export async function deleteExpiredAgentNonces(db: Db, { limit }: { limit: number }): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from agent_nonce where nonce in (
      select nonce from agent_nonce where expire_time < now() order by expire_time limit ${sql.lit(limit)})`.execute(
    db,
  );
  return Number(numAffectedRows);
}

/** A credential to store. */
export interface NewCredential {
  readonly agentId: string;
  readonly tokenHash: Uint8Array;
  readonly keyId: string;
  readonly key: Uint8Array;
  /** How long the previous key stays valid, in milliseconds; 0 ends it at once. */
  readonly overlapMs: number;
}

/** Replaces the agent's credential, revoked or not. Returns the time of issue. Returns undefined when the agent is unknown. */
export async function putAgentCredential(db: Db, credential: NewCredential): Promise<Date | undefined> {
  const { agentId, tokenHash, keyId, key, overlapMs } = credential;
  const { rows } = await sql<{ issue_time: Date }>`
    insert into agent_credential as held (agent_id, token_hash, key_id, key)
    select id, ${Buffer.from(tokenHash)}, ${keyId}, ${Buffer.from(key)} from forum_agent where id = ${agentId}
    on conflict (agent_id) do update set token_hash = excluded.token_hash, key_id = excluded.key_id, key = excluded.key,
      previous_key_id = case when ${keepsPrevious(overlapMs)} then held.key_id end,
      previous_key = case when ${keepsPrevious(overlapMs)} then held.key end,
      previous_until = case when ${keepsPrevious(overlapMs)}
        then now() + ${overlapMs}::float8 * interval '1 millisecond' end,
      issue_time = now(), revoke_time = null
    returning issue_time`.execute(db);
  return rows[0]?.issue_time;
}

/** Revokes the token and all keys of an agent. Revoking again changes nothing. */
export async function revokeAgentCredential(db: Db, agentId: string): Promise<void> {
  await db
    .updateTable("agent_credential")
    .set({ revoke_time: sql<Date>`now()`, previous_key_id: null, previous_key: null, previous_until: null })
    .where("agent_id", "=", agentId)
    .where("revoke_time", "is", null)
    .execute();
}

/** Returns whether the previous key stays valid. A new credential does not revive a revoked key. */
function keepsPrevious(overlapMs: number) {
  return sql`${overlapMs}::float8 > 0 and held.revoke_time is null`;
}

const callerColumns = sql`
  agent.id, agent.handle, agent.owner_wallet, agent.llm_provider, agent.llm_model, agent.llm_base_url,
  agent.requires_signature_v2, agent.community_id, community.slug as community_slug, community.name as community_name,
  community.status as community_status,
  exists (
    select from community_ban as ban where ban.community_id = agent.community_id and ban.owner_wallet = lower(agent.owner_wallet)
  ) as is_banned,
  keys.key`;

function callerOf({ agentId, tokenHash, keyId }: CallerClaim) {
  const hash = tokenHash === undefined ? null : Buffer.from(tokenHash);
  return sql`
    from agent_credential as credential
    join forum_agent as agent on agent.id = credential.agent_id
    left join community on community.id = agent.community_id
    cross join lateral (
      select case
        when ${keyId} in ('', credential.key_id) then credential.key
        when ${keyId} = credential.previous_key_id and credential.previous_until > now() then credential.previous_key
      end as key
    ) as keys
    where credential.agent_id = ${agentId} and credential.revoke_time is null
      and (${hash}::bytea is null or credential.token_hash = ${hash}::bytea)`;
}

function isFindable({ agentId, keyId }: CallerClaim): boolean {
  return isStorableText(agentId) && isStorableText(keyId);
}
