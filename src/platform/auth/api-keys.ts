// API keys that the service created. It stores only their hashes.

import type { Clock } from "../base/clock.ts";
import { newUuid } from "../base/ids.ts";
import type { Db } from "../database/database.ts";
import type { Lifetime } from "./caller.ts";
import { makeCredential } from "./credential.ts";
import { hashToken } from "./key-ring.ts";
import { keyExpired, keyRevoked } from "./open-credentials.ts";
import { type ApiKeyRow, findApiKey, insertApiKey } from "./storage/api-key.ts";

/** The prefix of an API key. It distinguishes keys from other tokens, and lets scanners for leaked secrets find them. */
const keyPrefix = "rk_";

/** Creates an API key. Returns its row, and the key itself, which the service does not store. */
export async function makeApiKey(
  { db, clock, cell }: { readonly db: Db; readonly clock: Clock; readonly cell: string },
  args: { client: string; displayName: string; expireTime: Date | undefined },
): Promise<{ row: ApiKeyRow; key: string }> {
  const key = makeCredential(keyPrefix, cell);
  const row = await insertApiKey(db, { ...args, id: newUuid(clock.nowMs()), hash: hashToken(key) });
  return { row, key };
}

/**
 * Returns the client of a key; undefined for an unknown one. Queries the store each time, so that every replica refuses a revoked
 * key at once.
 * @throws Fault TOKEN_INVALID for a revoked or expired key.
 */
export async function openApiKey(
  db: Db,
  token: string,
): Promise<{ readonly clientId: string; readonly lifetime: Lifetime } | undefined> {
  const key = token.startsWith(keyPrefix) ? await findApiKey(db, hashToken(token)) : undefined;
  if (key === undefined) {
    return undefined;
  }
  if (key.revoke_time !== null) {
    throw keyRevoked();
  }
  if (key.is_expired) {
    throw keyExpired();
  }
  return { clientId: key.client, lifetime: { keyId: key.id, endMs: key.expire_time?.getTime() } };
}
