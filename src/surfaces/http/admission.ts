// Lets a request in or says why not: who sent it, and whether they call too often.
//
// A1  Credentials are checked before anything is counted, so a right one is never refused for what others did from its
//     address.
// A2  An attempt that failed counts for its network. Beyond the rate the answer is RATE_LIMITED.

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

export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly bodies: UnverifiedBodies;
  /** By client. */
  readonly callerRate: RateLimit;
  /** By client, of calls that programs make all the time. */
  readonly frequentRate: RateLimit;
  /** By network, of attempts that failed. */
  readonly failureRate: RateLimit;
  /** By network, at the database's knowledge of tokens. */
  readonly lookups: FairTurns;
}

export interface Admitted {
  readonly admission: Admission;
  /** The body, when it had to be read. */
  readonly body: Buffer | undefined;
}

export interface Door {
  /** True when anybody may call, without credentials. */
  readonly isPublic: boolean;
  readonly bodyBytesMax: number;
  /** True when the query may hold a ticket. */
  readonly takesTicket: boolean;
  /** True when only the admin token opens it. */
  readonly needsAdmin: boolean;
  /** True for a call that programs make all the time. */
  readonly isFrequent: boolean;
}

export async function admit(request: Request, door: Door, options: AdmissionOptions): Promise<Admitted> {
  let body: Buffer | undefined;
  const readContents = async (): Promise<readonly Buffer[]> => {
    body ??= await options.bodies.read(request, door.bodyBytesMax);
    return contentsOf(body, request.headers["content-type"] ?? "");
  };
  try {
    const caller = await identify(request, door, options, readContents);
    const rate = door.isFrequent ? options.frequentRate : options.callerRate;
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
  door: Door,
  { authenticator, failureRate, lookups }: AdmissionOptions,
  readContents: () => Promise<readonly Buffer[]>,
): Promise<Caller> {
  if (door.isPublic) {
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
      ticket: door.takesTicket ? takeTicket(request) : undefined,
      needsAdmin: door.needsAdmin,
      readContents,
      lookUp: (ask) => lookups.run(network, () => (hasLeft(request) ? Promise.reject(clientLeft) : ask())),
    });
  } catch (error) {
    if (!(error instanceof Fault) || reasons[error.reason].code !== Code.Unauthenticated) {
      throw error;
    }
    // While callers have nothing to prove, no credential can be wrong.
    const caller = authenticator.callerWithoutProof(readClientId(request));
    if (caller === undefined) {
      failureRate.take(network);
      throw error;
    }
    return caller;
  }
}

/** A client that has left costs no lookup. */
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
