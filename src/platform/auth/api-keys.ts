// API keys that the service created. It stores only their hashes.

import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { newUuid } from "../base/ids.ts";
import type { Db } from "../database/database.ts";
import { hashToken } from "./key-ring.ts";
import { type ApiKeyRow, findClientOfKey, insertApiKey } from "./storage/api-key.ts";

/** The prefix of an API key. It distinguishes keys from other tokens, and lets scanners for leaked secrets find them. */
const keyPrefix = "rk_";
const keyBytes = 32;

/** Creates an API key. Returns its row, and the key itself, which the service does not store. */
export async function makeApiKey(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  args: { client: string; displayName: string; expireTime: Date | undefined },
): Promise<{ row: ApiKeyRow; key: string }> {
  const key = `${keyPrefix}${randomBytes(keyBytes).toString("base64url")}`;
  const row = await insertApiKey(db, { ...args, id: newUuid(clock.nowMs()), hash: hashToken(key) });
  return { row, key };
}

/**
 * Returns the client of a key; undefined for an unknown, expired or revoked one. Queries the store each time, so that every
 * replica refuses a revoked key at once.
 */
export async function findClientIdOfKey(db: Db, token: string): Promise<string | undefined> {
  return token.startsWith(keyPrefix) ? await findClientOfKey(db, hashToken(token)) : undefined;
}
