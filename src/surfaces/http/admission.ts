// Admits a request or returns the fault that refuses it: authentication, then rate limits.
//
// A1  Credentials are checked before anything is counted. A valid one is never refused because of other callers at its address.
// A2  A failed attempt counts for its network. Beyond the rate the answer is RATE_LIMITED.

import { Code } from "@connectrpc/connect";
import type { Authenticator } from "../../platform/auth/authenticate.ts";
import type { Admission, Caller } from "../../platform/auth/caller.ts";
import type { FairTurns } from "../../platform/auth/fair-turns.ts";
import type { RateLimit } from "../../platform/auth/rate-limit.ts";
import { Fault, reasons } from "../../platform/base/fault.ts";
import { readClientId, readCredentials, takeTicket } from "./credentials.ts";
import { addressOf, networkOf } from "./network.ts";
import { contentsOf, type UnverifiedBodies } from "./request-body.ts";
import type { Request } from "./rpc.ts";

/** The authenticator and the rate limits. */
export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly bodies: UnverifiedBodies;
  /** The rate limit of each client. */
  readonly callerRate: RateLimit;
  /** The rate limit of each client for frequent calls, those that programs make all the time. */
  readonly frequentRate: RateLimit;
  /** The rate limit of each network for failed attempts. */
  readonly failureRate: RateLimit;
  /** Shares token lookups in the database fairly between networks. */
  readonly lookups: FairTurns;
}

/** The admission of a request. */
export interface Admitted {
  readonly admission: Admission;
  /** The body, when a signature check had to read it. */
  readonly body: Buffer | undefined;
}

/** The access rules of the requested method. */
export interface AccessRules {
  /** True when the method needs no credentials. */
  readonly isPublic: boolean;
  readonly bodyBytesMax: number;
  /** False when nothing reads the body. A signed request must then have none: its signature would cover what has no meaning. */
  readonly takesBody: boolean;
  /** True when the query may contain a ticket. */
  readonly takesTicket: boolean;
  /** True when the method needs the admin token. */
  readonly needsAdmin: boolean;
  /** True for a call that programs make all the time. */
  readonly isFrequent: boolean;
}

/** Authenticates the caller and counts the call. Returns a `Fault` as part of the admission; throws only other errors. */
export async function admit(request: Request, rules: AccessRules, options: AdmissionOptions): Promise<Admitted> {
  let body: Buffer | undefined;
  const readContents = async (): Promise<readonly Buffer[]> => {
    body ??= await options.bodies.read(request, rules.takesBody ? rules.bodyBytesMax : 0);
    return contentsOf(body, request.headers["content-type"] ?? "");
  };
  try {
    const caller = await identify(request, rules, options, readContents);
    const rate = rules.isFrequent ? options.frequentRate : options.callerRate;
    rate.take(rateKey(caller, request));
    return { admission: { caller, network: networkOf(addressOf(request.socket)) }, body };
  } catch (error) {
    if (error instanceof Fault) {
      return { admission: { fault: error }, body };
    }
    throw error;
  }
}

async function identify(
  request: Request,
  rules: AccessRules,
  { authenticator, failureRate, lookups }: AdmissionOptions,
  readContents: () => Promise<readonly Buffer[]>,
): Promise<Caller> {
  if (rules.isPublic) {
    return { kind: "anyone" };
  }
  const address = addressOf(request.socket);
  const network = networkOf(address);
  try {
    return await authenticator.authenticate({
      ...readCredentials(request),
      httpMethod: request.method ?? "",
      target: request.url ?? "",
      address,
      ticket: rules.takesTicket ? takeTicket(request) : undefined,
      needsAdmin: rules.needsAdmin,
      readContents,
      lookUp: (ask) => lookups.run(network, () => (hasLeft(request) ? Promise.reject(clientLeft) : ask())),
    });
  } catch (error) {
    if (!(error instanceof Fault) || reasons[error.reason].code !== Code.Unauthenticated) {
      throw error;
    }
    // Where the service asks for no credentials, a credential cannot be wrong.
    const caller = authenticator.callerWithoutProof(readClientId(request));
    if (caller === undefined) {
      failureRate.take(network);
      throw error;
    }
    return caller;
  }
}

/** Whether the client has left. Its lookup is then skipped. */
function hasLeft(request: Request): boolean {
  return "stream" in request ? request.stream.destroyed : request.socket.destroyed;
}

const clientLeft = new Error("the client left");

function rateKey(caller: Caller, request: Request): string {
  switch (caller.kind) {
    case "client":
    case "ticket":
      return caller.client;
    case "run":
      return `run ${caller.runId}`;
    case "admin":
      return "admin";
    case "anyone":
      return `address ${networkOf(addressOf(request.socket))}`;
    default:
      return caller satisfies never;
  }
}
