// Access tokens of the operator's authorization server, as JSON Web Tokens (RFC 9068): whose they are, if they are valid.
//
// T1  A token counts only when a key of the server has signed it, with an algorithm of public keys that fits the key, as an access token for this service.
// T2  The server's keys come from the address of the settings alone. No token names another, or makes the service ask more often.
// T3  A token of a subject that the settings do not name is refused.

import { createLocalJWKSet, decodeJwt, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import type { Clock } from "../base/clock.ts";
import { Fault } from "../base/fault.ts";
import { parseObject } from "../base/json/parse-object.ts";
import type { AuthorizationServer } from "../config/authorization-server.ts";
import type { Lifetime } from "./caller.ts";

/** What the tokens need. */
export interface AccessTokensOptions {
  readonly server: AuthorizationServer;
  /** Returns the text of the server's set of keys. */
  readonly readKeys: () => Promise<string>;
  readonly clock: Clock;
}

type FindKey = ReturnType<typeof createLocalJWKSet>;

/** What keys of servers sign with. None of them is a secret that both sides know. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
/** The maximum length of a token. Headers have little more room. */
const tokenCharsMax = 8_192;
/** A server that replaces its keys publishes the new ones some time before it uses them. */
const keysKeptMs = 600_000;
/** A token with an unknown key makes the service ask again, at most this often. */
const askAgainMs = 30_000;
/** The time after which a server that did not answer is asked again. */
const retryMs = 5_000;
/** How far the clocks may differ. */
const leewaySec = 60;

/** Reads the tokens of one server. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  #keys: Promise<FindKey> | undefined;
  /** By the monotonic clock. */
  #askedMs = Number.NEGATIVE_INFINITY;
  /** True when no keys are known, because their server did not answer. */
  #hasFailed = false;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  /**
   * Returns the id of the client whose token it is, and when it expires; undefined for every other text.
   * @throws Fault AUTHORIZATION_SERVER_UNREACHABLE when the keys of the server cannot be read.
   */
  async open(token: string): Promise<{ readonly clientId: string; readonly lifetime: Lifetime } | undefined> {
    const clientId = this.#readClientId(token);
    if (clientId === undefined) {
      return undefined;
    }
    const known = await this.#check(token, await this.#readKeys(keysKeptMs));
    const verdict = known === "unknown key" ? await this.#check(token, await this.#readKeys(askAgainMs)) : known;
    return typeof verdict === "string" ? undefined : { clientId, lifetime: verdict };
  }

  /** Returns the client of which a text speaks, before its keys are read: other texts cost nothing more. */
  #readClientId(token: string): string | undefined {
    if (token.length > tokenCharsMax || !token.includes(".")) {
      return undefined;
    }
    try {
      const { iss, sub = "" } = decodeJwt(token);
      const { issuer, clients } = this.#options.server;
      return iss === issuer ? clients.get(sub) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Checks a token by RFC 9068, section 4. */
  async #check(token: string, findKey: FindKey): Promise<Lifetime | "invalid" | "unknown key"> {
    const { server, clock } = this.#options;
    const { issuer, resource: audience } = server;
    const nowMs = clock.nowMs();
    try {
      const { payload } = await jwtVerify(token, findKey, {
        ...{ issuer, audience, typ: "at+jwt", algorithms, clockTolerance: leewaySec, currentDate: new Date(nowMs) },
        requiredClaims: ["exp", "iat", "sub"],
      });
      return isOfFuture(payload, nowMs) ? "invalid" : { endMs: ((payload.exp ?? 0) + leewaySec) * 1_000 };
    } catch (error) {
      return error instanceof errors.JWKSNoMatchingKey ? "unknown key" : "invalid";
    }
  }

  /** Returns the keys, which are at most this old. Keys that are known stay when their server does not answer. */
  async #readKeys(ageMaxMs: number): Promise<FindKey> {
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#keys;
    const isOld = nowMs - this.#askedMs > (this.#hasFailed ? retryMs : ageMaxMs);
    let keys = known;
    if (keys === undefined || isOld) {
      this.#askedMs = nowMs;
      const asked = this.#ask();
      keys = known === undefined || this.#hasFailed ? asked : asked.catch(() => known);
      this.#keys = keys;
      this.#hasFailed = false;
    }
    try {
      return await keys;
    } catch (cause) {
      this.#hasFailed = true;
      const message = "the keys of the authorization server cannot be read: try again later";
      throw new Fault("AUTHORIZATION_SERVER_UNREACHABLE", message, { cause, retryAfterMs: retryMs });
    }
  }

  async #ask(): Promise<FindKey> {
    return createLocalJWKSet(parseObject(await this.#options.readKeys()) as unknown as JSONWebKeySet);
  }
}

function isOfFuture({ iat = 0 }: JWTPayload, nowMs: number): boolean {
  return iat > nowMs / 1_000 + leewaySec;
}
