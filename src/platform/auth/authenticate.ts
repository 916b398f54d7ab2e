// Finds out who sent a request: by bearer token, by ticket, by signature, or, while nothing is configured to prove
// oneself with, by what the caller says.
//
// A1  A nonce is burned after its signature was found right and before anything else happens, by a commit of its own.
// A2  The body is read only for a signature whose headers are right in everything that they can show.
// A3  When the store cannot be asked, nobody gets in.

import type { Clock } from "../base/clock.ts";
import { failpoint } from "../base/failpoint.ts";
import { Fault } from "../base/fault.ts";
import type { Db } from "../database/database.ts";
import { isOutage } from "../database/errors.ts";
import type { Events } from "../telemetry/events.ts";
import { findClientIdOfKey } from "./api-keys.ts";
import { type Caller, keyedClient, sharedClient } from "./caller.ts";
import type { KeyRing } from "./key-ring.ts";
import { isRunToken, type RunTokens } from "./run-token.ts";
import { invalidSignature, isSignedBy, readSignature, type Signature } from "./signature.ts";
import { useNonce } from "./storage/nonce.ts";
import { isTicket, openTicket } from "./tickets.ts";

/** What of a request matters for who sent it. */
export interface CredentialedRequest {
  readonly httpMethod: string;
  /** Path and query as they were received. */
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
  /** True for a call that the admin token alone opens. */
  readonly needsAdmin: boolean;
  /** Asks the database about a token, when it is this request's turn. */
  lookUp<T>(ask: () => Promise<T>): Promise<T>;
  /** What a signature may be over, read at most once. */
  readContents(): Promise<readonly Uint8Array[]>;
}

export interface AuthenticatorOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
  readonly runTokens: RunTokens;
  readonly acceptV1: boolean;
  readonly events: Pick<Events, "signatureTimed">;
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  async authenticate(request: CredentialedRequest): Promise<Caller> {
    try {
      return await this.#authenticate(request);
    } catch (error) {
      if (isOutage(error)) {
        throw new Fault("DATABASE_UNAVAILABLE", "the database is not reachable", { cause: error, retryAfterMs: 1_000 });
      }
      throw error;
    }
  }

  /** Returns the client that a caller claims to be while the service asks for no proof; undefined while it does. */
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

  /** What whoever calls administration should know before anything is said about its token. */
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
    const { db, keyRing } = this.#options;
    if (keyRing.isAdmin(token)) {
      return { kind: "admin" };
    }
    if (isRunToken(token)) {
      return { kind: "run", ...this.#options.runTokens.open(token) };
    }
    if (isTicket(token)) {
      return await this.#openTicket(token, request);
    }
    const id = keyRing.findClientId(token) ?? (await request.lookUp(() => findClientIdOfKey(db, token)));
    if (id === undefined || (request.clientId !== undefined && request.clientId !== id)) {
      throw new Fault("TOKEN_INVALID", "invalid bearer token");
    }
    return { kind: "client", client: keyedClient(id) };
  }

  /** Whoever's clock is wrong is counted too: that is what the figure is for. */
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

/** The seconds between a request's time and ours, when it was refused for them. */
function skewOf(error: unknown): number | undefined {
  const skew = error instanceof Fault ? error.metadata.skew_seconds : undefined;
  return skew === undefined ? undefined : Number(skew);
}

/** The client of a call without an id, while no credentials are asked for. */
const openClientId = "local";

/** Undefined when there is none, empty when it is malformed. Other schemes are not ours to read: a proxy may have its own. */
function readBearer(authorization: string | undefined): string | undefined {
  const credentials = /^Bearer(?: +|$)(.*)$/i.exec(authorization ?? "")?.[1];
  return credentials === undefined ? undefined : (/^(\S+) *$/.exec(credentials)?.[1] ?? "");
}
