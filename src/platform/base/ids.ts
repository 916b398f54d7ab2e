// Creates ids. Run ids are uuidv7: they sort by creation and carry the day that partitions the log. They use the service's
// clock and never come from a client. Ids that one process creates in the same millisecond sort by creation too.

import { randomFillSync, randomUUID } from "node:crypto";

/**
 * Returns a new uuidv7 for this millisecond: a 12-bit counter that starts at a random number, and 62 random bits (RFC 9562,
 * 6.2).
 */
export function newUuid(nowMs: number): string {
  const bytes = takeRandom(16);
  const ms = Math.floor(nowMs);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | countWithin(ms, bytes.readUInt16BE(6)), 6);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  return formatUuid(bytes);
}

let latest = { ms: Number.NaN, count: 0 };

/** Starts in the lower half of its 12 bits, so that it wraps only after two thousand ids. */
function countWithin(ms: number, random: number): number {
  latest = { ms, count: ms === latest.ms ? (latest.count + 1) & 0x0fff : random & 0x07ff };
  return latest.count;
}

/** Returns the lowest uuidv7 of a millisecond: a bound for time ranges. */
export function lowestUuid(atMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(atMs, 0, 6);
  return formatUuid(bytes);
}

/** After all ids. */
export const highestUuid = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/** Returns the 16 bytes of a uuid. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Returns a session id in the form of the Agent Runner document: 32 lower-case hexadecimal digits. */
export function newSessionId(): string {
  return takeRandom(16).toString("hex");
}

/** Returns an exchange id in the form of its document: 8 lower-case hexadecimal digits, so that two may collide. */
export function newExchangeId(): string {
  return takeRandom(4).toString("hex");
}

/** Returns an id for a request that has none, in the same 32-digit form: unique, but no secret. */
export function newRequestId(): string {
  return randomUUID().replaceAll("-", "");
}

/** Returns a nonce, which makes a request unique: 32 hexadecimal digits that cannot be guessed. */
export function newNonce(): string {
  return takeRandom(16).toString("hex");
}

/** One call for many ids: each call of the generator takes as long as the rest of an id. */
const pool = Buffer.alloc(4096);
let poolTaken = pool.length;

/** Returns a copy of unpredictable bytes that no other caller gets. */
function takeRandom(size: number): Buffer {
  if (poolTaken + size > pool.length) {
    randomFillSync(pool);
    poolTaken = 0;
  }
  const bytes = Buffer.from(pool.subarray(poolTaken, poolTaken + size));
  pool.fill(0, poolTaken, poolTaken + size);
  poolTaken += size;
  return bytes;
}
