// Access tokens for the operator's MCP servers, by the client credentials grant (RFC 6749, section 4.4) for one resource (RFC 8707).
//
// O1  The proof of the client goes to the token endpoint of the settings alone, and a token to its server's origin alone. No server names an endpoint.
// O2  A replica has one token for each server. Calls that need a new one share its request.

import type { Clock } from "../../../platform/base/clock.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { parseObject } from "../../../platform/base/json/parse-object.ts";
import { readSigningKey } from "../../../platform/base/signing-key.ts";
import type { ClientCredentials, ClientKey } from "../../../platform/config/mcp-servers.ts";
import { EgressFailure } from "../../../platform/egress/failure.ts";
import { createGuardedFetch } from "../../../platform/egress/guarded-fetch.ts";
import type { Egress } from "../../../platform/egress/post.ts";
import { connectTimeoutMs } from "./limits.ts";

interface Token {
  readonly value: string;
  /** By the monotonic clock. */
  readonly untilMs: number;
}

/** The tokens of a replica. */
export class AccessTokens {
  readonly #egress: Pick<Egress, "open">;
  readonly #clock: Clock;
  readonly #tokens = new Map<ClientCredentials, Promise<Token>>();
  readonly #values = new Map<ClientCredentials, readonly string[]>();

  constructor({ egress, clock }: { readonly egress: Pick<Egress, "open">; readonly clock: Clock }) {
    this.#egress = egress;
    this.#clock = clock;
  }

  /** Returns a token, but not `refused`, which the server has refused. Throws an EgressFailure. */
  async get(credentials: ClientCredentials, resource: string, refused: string | undefined): Promise<string> {
    const known = this.#tokens.get(credentials);
    const token = await known?.catch(() => undefined);
    if (token !== undefined && token.value !== refused && this.#clock.monotonicMs() < token.untilMs) {
      return token.value;
    }
    // Another call may have asked meanwhile.
    if (this.#tokens.get(credentials) === known) {
      const asked = this.#ask(credentials, resource);
      asked.catch(() => {});
      this.#tokens.set(credentials, asked);
    }
    return (await this.#tokens.get(credentials))?.value ?? "";
  }

  /** Returns the tokens that no text may show: the last ones of the server. */
  valuesOf(credentials: ClientCredentials): readonly string[] {
    return this.#values.get(credentials) ?? noValues;
  }

  async #ask(credentials: ClientCredentials, resource: string): Promise<Token> {
    const { tokenUrl, scope } = credentials;
    const { headers, fields } = await this.#prove(credentials);
    const send = createGuardedFetch({
      ...{ what: "mcp server", url: tokenUrl, egress: this.#egress, answerBytesMax, onBroken: () => {} },
      headTimeoutMs: () => connectTimeoutMs,
      headers: {
        accept: "application/json",
        "content-type": "application/x-www-form-urlencoded",
        ...headers,
      },
    });
    const form = { grant_type: "client_credentials", resource, ...(scope !== "" && { scope }), ...fields };
    const response = await send(tokenUrl, { method: "POST", body: new URLSearchParams(form).toString() });
    const text = await response.text();
    if (!response.ok) {
      const isRetryable = response.status === 429 || response.status >= 500;
      throw new EgressFailure(`the token endpoint answered ${response.status}: check oauth in mcp.servers`, {
        isRetryable,
      });
    }
    const { access_token: value, expires_in: seconds } = parseObject(text) ?? {};
    if (typeof value !== "string" || !/^[\x21-\x7e]+$/.test(value)) {
      throw new EgressFailure("the token endpoint answered without an access_token", { isRetryable: false });
    }
    this.#values.set(credentials, [...this.valuesOf(credentials), value].slice(-valuesHiddenMax));
    // Some endpoints write the number as a text.
    const lifeSec = typeof seconds === "number" || typeof seconds === "string" ? Number(seconds) : Number.NaN;
    const lifeMs = (Number.isNaN(lifeSec) ? defaultLifeSec : lifeSec) * 1_000;
    return { value, untilMs: this.#clock.monotonicMs() + Math.max(lifeMs - earlyMs, lifeMs / 2) };
  }

  /** Returns what a request says to prove that it is the client's. */
  async #prove({ clientId, proof }: ClientCredentials): Promise<Proof> {
    if (proof.kind === "secret") {
      const basic = Buffer.from(`${encode(clientId)}:${encode(proof.secret)}`).toString("base64");
      return { headers: { authorization: `Basic ${basic}` }, fields: {} };
    }
    return {
      headers: {},
      fields: {
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await assertionOf(clientId, proof, this.#clock.nowMs()),
      },
    };
  }
}

interface Proof {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
}

/** How long an assertion is valid: for one request, between clocks that differ. */
const assertionLifeSec = 120;

/** Returns a new assertion of a client for its authorization server (RFC 7523, section 3). */
async function assertionOf(clientId: string, { privateKey, keyId, issuer }: ClientKey, nowMs: number): Promise<string> {
  const read = readSigningKey(privateKey);
  if (read === undefined) {
    throw new Error("the private key of the settings can no longer be read");
  }
  const { SignJWT } = await import("jose");
  const iat = Math.floor(nowMs / 1_000);
  return await new SignJWT({ iss: clientId, sub: clientId, aud: issuer, jti: newUuid(nowMs) })
    .setProtectedHeader({ alg: read.algorithm, typ: "JWT", ...(keyId !== "" && { kid: keyId }) })
    .setIssuedAt(iat)
    .setExpirationTime(iat + assertionLifeSec)
    .sign(read.key);
}

const noValues: readonly string[] = [];
const answerBytesMax = 65_536;
/** For an endpoint that names no life: the server refuses the token when it is over. */
const defaultLifeSec = 3_600;
/** A token is renewed this long before its end, so that it lasts for a request. */
const earlyMs = 30_000;
/** A server that repeats a token repeats one of the last. */
const valuesHiddenMax = 4;

/** Encodes as forms do (RFC 6749, section 2.3.1). */
function encode(text: string): string {
  return new URLSearchParams({ t: text }).toString().slice(2);
}
