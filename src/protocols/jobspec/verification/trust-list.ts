// Decides whose signatures count, by the operator's trust list. ("Portal ↔ Runner Signing Contract", Trust List; the list has
// the form of the service that the contract is from.)
// T1  One invalid entry makes the list invalid. The error names the entry and says what to do.
// T2  Keys are equal when their bytes are equal, however these are written.

import { publicKeyBytes } from "../../../platform/base/public-key.ts";
import { parseTimeMs } from "./time-text.ts";

/** A key of the trust list. */
export interface TrustedKey {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly isRevoked: boolean;
  /** In milliseconds since 1970; the key is valid at both ends. */
  readonly notBeforeMs: number | undefined;
  readonly notAfterMs: number | undefined;
}

/** The status of a key at some moment. */
export type TrustStatus = "trusted" | "unknown" | "revoked" | "not_yet_valid" | "expired";

/** What the trust list says about a key. */
export interface TrustVerdict {
  readonly status: TrustStatus;
  readonly reason: string;
  /** The key's name in the list. */
  readonly kid: string | undefined;
}

/** The trusted keys, found by their bytes. */
export class TrustList {
  readonly #keys: ReadonlyMap<string, TrustedKey>;

  constructor(keys: readonly TrustedKey[]) {
    this.#keys = new Map(keys.map((key) => [nameOf(key.publicKey), key]));
  }

  get size(): number {
    return this.#keys.size;
  }

  judge(publicKey: Uint8Array, nowMs: number): TrustVerdict {
    const key = this.#keys.get(nameOf(publicKey));
    if (key === undefined) {
      return { status: "unknown", reason: "no match in allowlist", kid: undefined };
    }
    return { ...judgeKey(key, nowMs), kid: key.kid };
  }
}

function judgeKey({ isRevoked, notBeforeMs, notAfterMs }: TrustedKey, nowMs: number): Omit<TrustVerdict, "kid"> {
  if (isRevoked) {
    return { status: "revoked", reason: "explicitly revoked" };
  }
  if (notBeforeMs !== undefined && nowMs < notBeforeMs) {
    return { status: "not_yet_valid", reason: "before not_before" };
  }
  return notAfterMs !== undefined && nowMs > notAfterMs
    ? { status: "expired", reason: "after not_after" }
    : { status: "trusted", reason: "active" };
}

/** Parses a trust list, such as `[{"kid": "a", "public_key": "…"}]`. Throws an Error that names the entry. */
export function parseTrustList(json: string): TrustedKey[] {
  const entries = parseArray(json);
  const keys = entries.map(readEntry);
  for (const name of ["kid", "publicKey"] as const) {
    const twice = keys.find((key, index) => keys.findIndex((other) => isSame(key[name], other[name])) < index);
    if (twice !== undefined) {
      throw new Error(`two entries have the ${name === "kid" ? "kid" : "public_key of kid"} "${twice.kid}"`);
    }
  }
  return keys;
}

function parseArray(json: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch (error) {
    throw new Error(`not JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (!Array.isArray(parsed)) {
    throw new Error("must be a JSON array of keys, without an object around it");
  }
  return parsed;
}

function readEntry(entry: unknown, index: number): TrustedKey {
  const at = `entry ${index}`;
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
    throw new Error(`${at} must be an object with kid and public_key`);
  }
  const read = (name: string): string | undefined => readText(entry, name, at);
  const kid = read("kid");
  if (!kid) {
    throw new Error(`${at} has no kid`);
  }
  const which = `${at} (kid "${kid}")`;
  const publicKey = readKey(read("public_key"), which);
  const status = read("status") ?? "";
  if (!["", "active", "revoked"].includes(status)) {
    throw new Error(`${which}: status must be "active" or "revoked", not "${status}"`);
  }
  const [notBeforeMs, notAfterMs] = ["not_before", "not_after"].map((name) => readTime(read(name), name, which));
  if (notBeforeMs !== undefined && notAfterMs !== undefined && notBeforeMs > notAfterMs) {
    throw new Error(`${which}: not_before is after not_after`);
  }
  return { kid, publicKey, isRevoked: status === "revoked", notBeforeMs, notAfterMs };
}

function readText(entry: object, name: string, at: string): string | undefined {
  const value: unknown = Object.hasOwn(entry, name) ? Reflect.get(entry, name) : undefined;
  if (value !== undefined && value !== null && typeof value !== "string") {
    throw new Error(`${at}: ${name} must be text`);
  }
  return value ?? undefined;
}

/** Reads a key in base64, padded or not. */
function readKey(text: string | undefined, which: string): Uint8Array {
  if (!text) {
    throw new Error(`${which} has no public_key`);
  }
  if (!keyText.test(text)) {
    throw new Error(`${which}: public_key must be ${publicKeyBytes} bytes in base64`);
  }
  return Buffer.from(text, "base64");
}

/** 32 bytes in base64: 43 characters, and perhaps one of padding. */
const keyText = /^[A-Za-z0-9+/]{43}=?$/;

function readTime(text: string | undefined, name: string, which: string): number | undefined {
  if (text === undefined || text === "") {
    return undefined;
  }
  const ms = parseTimeMs(text);
  if (ms === undefined) {
    throw new Error(`${which}: ${name} must be a time such as 2026-01-31T12:00:00Z`);
  }
  return ms;
}

function isSame(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return nameOf(a) === nameOf(b);
}

function nameOf(value: string | Uint8Array): string {
  return typeof value === "string" ? value : Buffer.from(value).toString("hex");
}
