// API keys that the service made itself. Only their hashes are kept.

import { randomBytes } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { newUuid } from "../base/ids.ts";
import type { Db } from "../database/database.ts";
import { hashToken } from "./key-ring.ts";
import { type ApiKeyRow, findClientOfKey, insertApiKey } from "./storage/api-key.ts";

/** Tells a key from every other token; scanners for leaked secrets find it by that. */
const keyPrefix = "rk_";
const keyBytes = 32;

export async function makeApiKey(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  args: { client: string; displayName: string; expireTime: Date | undefined },
): Promise<{ row: ApiKeyRow; key: string }> {
  const key = `${keyPrefix}${randomBytes(keyBytes).toString("base64url")}`;
  const row = await insertApiKey(db, { ...args, id: newUuid(clock.nowMs()), hash: hashToken(key) });
  return { row, key };
}

/** Asks the store each time, so that a revoked key is refused at once and everywhere. */
export async function findClientIdOfKey(db: Db, token: string): Promise<string | undefined> {
  return token.startsWith(keyPrefix) ? await findClientOfKey(db, hashToken(token)) : undefined;
}
