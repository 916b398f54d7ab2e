// Finds out which caller sent a request: by bearer token, by ticket, or by signature. Without configured credentials, the
// client id that the caller claims counts.
//
// A1  A nonce is committed after the signature was verified and before the request has any effect.
// A2  The body is read only when the headers of the signature pass every check that needs no body.
// A3  When the store cannot be queried, no caller is admitted.

import type { Clock } from "../base/clock.ts";
import { failpoint } from "../base/failpoint.ts";
import { Fault } from "../base/fault.ts";
import type { Db } from "../database/database.ts";
import { describeOutage, isOutage } from "../database/errors.ts";
import type { Events } from "../telemetry/events.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { openApiKey } from "./api-keys.ts";
import { type Caller, keyedClient, sharedClient } from "./caller.ts";
import type { KeyRing } from "./key-ring.ts";
import { isRunToken, type RunTokens } from "./run-token.ts";
import { invalidSignature, isSignedBy, readSignature, type Signature } from "./signature.ts";
import { useNonce } from "./storage/nonce.ts";
import { isTicket, openTicket } from "./tickets.ts";

/** The parts of a request that identify its caller. */
export interface CredentialedRequest {
  readonly httpMethod: string;
  /** Path and query as received. */
  readonly target: string;
  /** The peer's address without its port. */
  readonly address: string;
  readonly authorization: string | undefined;
  readonly clientId: string | undefined;
  readonly signature: string | undefined;
  readonly timestamp: string | undefined;
  readonly nonce: string | undefined;
  /** From the query of an SSE request. */
  readonly ticket: string | undefined;
  /** True for a call that only the admin token permits. */
  readonly needsAdmin: boolean;
  /** Queries the database about a token, when it is this request's turn. */
  lookUp<T>(ask: () => Promise<T>): Promise<T>;
  /** Returns the contents that a signature may cover. Read at most once. */
  readContents(): Promise<readonly Uint8Array[]>;
}

/** Dependencies of the authenticator. */
export interface AuthenticatorOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly runTokens: RunTokens;
  /** Undefined without an authorization server. */
  readonly accessTokens: Pick<AccessTokens, "open"> | undefined;
  readonly acceptV1: boolean;
  readonly events: Pick<Events, "signatureTimed">;
}

/** Authenticates requests. */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Returns the caller of a request. Throws a fault of the credentials, or DATABASE_UNAVAILABLE. */
  async authenticate(request: CredentialedRequest): Promise<Caller> {
    try {
      return await this.#authenticate(request);
    } catch (error) {
      if (isOutage(error)) {
        throw new Fault("DATABASE_UNAVAILABLE", describeOutage(error), { cause: error, retryAfterMs: 1_000 });
      }
      throw error;
    }
  }

  /**
   * Returns the client that a caller claims to be while the service requires no credentials; undefined when it requires them.
   */
  callerWithoutProof(claimedId: string | undefined): Caller | undefined {
    return this.#options.keyRing.isOpen
      ? { kind: "client", client: sharedClient(claimedId ?? openClientId) }
      : undefined;
  }

  async #authenticate(request: CredentialedRequest): Promise<Caller> {
    const token = readBearer(request.authorization);
    if (request.needsAdmin) {
      this.#assertAdminKnown(request, token);
    }
    const isSigned = request.signature !== undefined;
    if ([token, request.ticket, isSigned || undefined].filter((each) => each !== undefined).length > 1) {
      throw new Fault("CREDENTIALS_AMBIGUOUS", "several credentials: send a bearer token, a ticket or a signature");
    }
    if (request.ticket !== undefined) {
      return await this.#openTicket(request.ticket, request);
    }
    if (token !== undefined) {
      return await this.#readToken(token, request);
    }
    return this.callerWithoutProof(request.clientId) ?? (await this.#readSignature(request));
  }

  /**
   * Reports what a caller of an admin method must know before its token is judged: a missing setting, or a missing or malformed
   * token.
   */
  #assertAdminKnown({ authorization, signature }: CredentialedRequest, token: string | undefined): void {
    if (!this.#options.keyRing.hasAdmin) {
      throw new Fault("ADMIN_NOT_CONFIGURED", "there is no admin token: set RUNNEL_AUTH_ADMIN_TOKEN for the service");
    }
    if (authorization === undefined && signature === undefined) {
      throw new Fault("CREDENTIALS_MISSING", "missing admin token: send it as `Authorization: Bearer`");
    }
    if (authorization !== undefined && (token === undefined || token === "")) {
      throw new Fault("AUTHORIZATION_MALFORMED", "malformed Authorization: send `Bearer` and the admin token");
    }
  }

  async #openTicket(ticket: string, { lookUp }: CredentialedRequest): Promise<Caller> {
    return await lookUp(() => openTicket(this.#options.db, ticket));
  }

  async #readToken(token: string, request: CredentialedRequest): Promise<Caller> {
    const { db, keyRing, accessTokens } = this.#options;
    if (keyRing.isAdmin(token)) {
      return { kind: "admin" };
    }
    if (isRunToken(token)) {
      return { kind: "run", ...this.#options.runTokens.open(token) };
    }
    if (isTicket(token)) {
      return await this.#openTicket(token, request);
    }
    const known = keyRing.findClientId(token);
    const found =
      known === undefined
        ? ((await accessTokens?.open(token)) ?? (await request.lookUp(() => openApiKey(db, token))))
        : { clientId: known, lifetime: undefined };
    if (found === undefined || (request.clientId !== undefined && request.clientId !== found.clientId)) {
      throw new Fault("TOKEN_INVALID", "invalid bearer token");
    }
    return { kind: "client", client: keyedClient(found.clientId), lifetime: found.lifetime };
  }

  /** Also measures the skew of refused requests: finding wrong clocks is the purpose of this metric. */
  #readHeaders(request: CredentialedRequest): Signature {
    const { clock, events } = this.#options;
    const nowMs = clock.nowMs();
    try {
      const signature = readSignature(request, nowMs);
      events.signatureTimed({ skewSeconds: Number(signature.timestamp) - nowMs / 1_000 });
      return signature;
    } catch (error) {
      const skewSeconds = skewOf(error);
      if (skewSeconds !== undefined) {
        events.signatureTimed({ skewSeconds });
      }
      throw error;
    }
  }

  async #readSignature(request: CredentialedRequest): Promise<Caller> {
    const { db, keyRing, acceptV1 } = this.#options;
    const signature = this.#readHeaders(request);
    const { client, nonceScope, secrets } = keyRing.findSigner(request.clientId, request.address);
    const { httpMethod, target, clientId = "" } = request;
    const signed = { httpMethod, target, clientId, contents: await request.readContents() };
    if (!isSignedBy(secrets, signature, signed, { acceptV1 })) {
      throw invalidSignature();
    }
    failpoint("nonce.inserting");
    if (!(await useNonce(db, { scope: nonceScope, nonce: signature.nonce }))) {
      throw new Fault("NONCE_REPLAYED", "replayed request");
    }
    failpoint("nonce.inserted");
    return { kind: "client", client };
  }
}

/** Returns the seconds between the request's timestamp and our clock, when the request was refused because of them. */
function skewOf(error: unknown): number | undefined {
  const skew = error instanceof Fault ? error.metadata.skew_seconds : undefined;
  return skew === undefined ? undefined : Number(skew);
}

/** The client of a call without an id while no credentials are configured. */
const openClientId = "local";

/**
 * Returns undefined without a bearer token, and an empty text for a malformed one. Other schemes are ignored: a proxy may use
 * its own.
 */
function readBearer(authorization: string | undefined): string | undefined {
  const credentials = /^Bearer(?: +|$)(.*)$/i.exec(authorization ?? "")?.[1];
  return credentials === undefined ? undefined : (/^(\S+) *$/.exec(credentials)?.[1] ?? "");
}
