// Ids. Run ids are uuidv7: they sort by creation and carry the day that the log is partitioned by. They come from the
// service's clock, never from a caller. Those that one process makes in one millisecond sort by creation too.

import { randomBytes, randomUUID } from "node:crypto";

/** A new uuidv7 for this millisecond: 12 bits count from a random number on, and 62 are random (RFC 9562, 6.2). */
export function newUuid(nowMs: number): string {
  const bytes = randomBytes(16);
  const ms = Math.floor(nowMs);
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | countWithin(ms, bytes.readUInt16BE(6)), 6);
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f);
  return formatUuid(bytes);
}

let latest = { ms: Number.NaN, count: 0 };

/** Begins in the lower half, so that it comes round only after two thousand ids. */
function countWithin(ms: number, random: number): number {
  latest = { ms, count: ms === latest.ms ? (latest.count + 1) & 0x0fff : random & 0x07ff };
  return latest.count;
}

/** The smallest uuidv7 of a millisecond: a bound for ranges over time. */
export function lowestUuid(atMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(atMs, 0, 6);
  return formatUuid(bytes);
}

export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll("-", ""), "hex");
}

function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A session id as the Agent Runner document shows it: 32 lower-case hexadecimal digits. */
export function newSessionId(): string {
  return randomBytes(16).toString("hex");
}

/** An id of an exchange as its document shows it: 8 lower-case hexadecimal digits, so that two may be the same. */
export function newExchangeId(): string {
  return randomBytes(4).toString("hex");
}

/** An id of a request that brought none, in the same form: unique, but no secret. */
export function newRequestId(): string {
  return randomUUID().replaceAll("-", "");
}

/** Makes a request single: 32 hexadecimal digits that nobody can guess. */
export function newNonce(): string {
  return randomBytes(16).toString("hex");
}
