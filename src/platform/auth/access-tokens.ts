// Access tokens of the operator's authorization server, as JSON Web Tokens (RFC 9068): whose they are, if they are valid.
//
// T1  A token counts only when a key of the server has signed it, with that key's own algorithm, as an access token for this service.
// T2  The server's keys come from the address of the settings alone. No token names another, or makes the service ask more often.
// T3  A token of a subject that the settings do not name is refused.

import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { isObject, parseObject } from "../base/json/parse-object.ts";
import { algorithmOf, type TokenAlgorithm } from "../base/signing-key.ts";
import type { AuthorizationServer } from "../config/authorization-server.ts";

/** What the tokens need. */
export interface AccessTokensOptions {
  readonly server: AuthorizationServer;
  /** Returns the text of the server's set of keys. */
  readonly readKeys: () => Promise<string>;
  readonly clock: Clock;
}

interface PublicKey {
  readonly id: string;
  readonly key: KeyObject;
  readonly algorithm: TokenAlgorithm;
}

type Part = Readonly<Record<string, unknown>>;

/** The maximum length of a token. Headers have little more room. */
const tokenCharsMax = 8_192;
/** A server that replaces its keys publishes the new ones some time before it uses them. */
const keysKeptMs = 600_000;
/** A token with an unknown key makes the service ask again, at most this often. */
const askAgainMs = 30_000;
/** The time after which a server that did not answer is asked again. */
const retryMs = 5_000;
const keysMax = 100;
/** How far the clocks may differ. */
const leewaySec = 60;

/** Reads the tokens of one server. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  #keys: Promise<readonly PublicKey[]> | undefined;
  /** By the monotonic clock. */
  #askedMs = Number.NEGATIVE_INFINITY;
  /** True when no keys are known, because their server did not answer. */
  #hasFailed = false;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /**
   * Returns the id of the client whose token it is; undefined for every other text.
   * @throws Fault AUTHORIZATION_SERVER_UNREACHABLE when the keys of the server cannot be read.
   */
  async findClientId(token: string): Promise<string | undefined> {
    const read = readToken(token);
    if (read === undefined) {
      return undefined;
    }
    const { header, claims, signed, signature } = read;
    const clientId = this.#clientOf(claims);
    const isKind = header.typ === "at+jwt" || header.typ === "application/at+jwt";
    if (clientId === undefined || !isKind || "crit" in header) {
      return undefined;
    }
    const key = await this.#findKey(header);
    return key !== undefined && isSigned(key, signed, signature) ? clientId : undefined;
  }

  /** Returns the client of claims that are right for this service now (RFC 9068, section 4). */
  #clientOf({ iss, aud, sub, exp, nbf = 0, iat }: Part): string | undefined {
    const { server, clock } = this.#options;
    const nowSec = clock.nowMs() / 1_000;
    const isForUs = iss === server.issuer && [aud].flat().includes(server.resource);
    const isNow = typeof exp === "number" && exp > nowSec - leewaySec && isPast(nbf, nowSec) && isPast(iat, nowSec);
    return isForUs && isNow && typeof sub === "string" ? server.clients.get(sub) : undefined;
  }

  async #findKey({ kid, alg }: Part): Promise<PublicKey | undefined> {
    const find = (keys: readonly PublicKey[]): PublicKey | undefined => {
      const fitting = keys.filter(({ id, algorithm }) => algorithm === alg && (kid === undefined || id === kid));
      // Without a name the key must be the only one.
      return fitting.length === 1 ? fitting[0] : undefined;
    };
    const known = await this.#readKeys(keysKeptMs);
    return find(known) ?? find(await this.#readKeys(askAgainMs));
  }

  /** Returns the keys, which are at most this old. Keys that are known stay when their server does not answer. */
  async #readKeys(ageMaxMs: number): Promise<readonly PublicKey[]> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#keys;
    const isOld = nowMs - this.#askedMs > (this.#hasFailed ? retryMs : ageMaxMs);
    if (known === undefined || isOld) {
      this.#askedMs = nowMs;
      const asked = this.#ask();
      this.#keys = known === undefined || this.#hasFailed ? asked : asked.catch(() => known);
      this.#hasFailed = false;
    }
    try {
      return await (this.#keys ?? []);
    } catch (cause) {
      this.#hasFailed = true;
      const message = "the keys of the authorization server cannot be read: try again later";
      throw new Fault("AUTHORIZATION_SERVER_UNREACHABLE", message, { cause, retryAfterMs: retryMs });
    }
  }

  async #ask(): Promise<readonly PublicKey[]> {
    const { keys } = parseObject(await this.#options.readKeys()) ?? {};
    if (!Array.isArray(keys)) {
      throw new Error("the address of the public keys has no set of keys");
    }
    return keys.slice(0, keysMax).flatMap(readKey);
  }
}

/** Returns the parts of a compact token; undefined for any other text. */
function readToken(token: string) {
  if (token.length > tokenCharsMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) {
    return undefined;
  }
  const [first = "", second = "", third = ""] = token.split(".");
  const [header, claims] = [first, second].map((part) => parseObject(Buffer.from(part, "base64url").toString()));
  return header && claims
    ? { header, claims, signed: Buffer.from(`${first}.${second}`), signature: Buffer.from(third, "base64url") }
    : undefined;
}

function isPast(time: unknown, nowSec: number): boolean {
  return typeof time === "number" && time <= nowSec + leewaySec;
}

/** Returns a key that signs tokens; nothing for every other one. */
function readKey(jwk: unknown): PublicKey[] {
  if (!isObject(jwk) || (jwk.use !== undefined && jwk.use !== "sig")) {
    return [];
  }
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
    const algorithm = algorithmOf(key);
    return algorithm === undefined || (jwk.alg !== undefined && jwk.alg !== algorithm)
      ? []
      : [{ id: typeof jwk.kid === "string" ? jwk.kid : "", key, algorithm }];
  } catch {
    return [];
  }
}

function isSigned({ key, algorithm }: PublicKey, signed: Uint8Array, signature: Uint8Array): boolean {
  const hash = algorithm === "EdDSA" ? null : `sha${algorithm.slice(-3)}`;
  return verify(hash, signed, { key, dsaEncoding: "ieee-p1363" }, signature);
}
