// Admits a request or returns the fault that refuses it: authentication, then rate limits, then the body.
//
// A1  Credentials are checked before anything is counted. A valid one is never refused because of other callers at its address.
// A2  A failed attempt counts for its network. Beyond the rate the answer is RATE_LIMITED.
// A3  Nothing is built from a body before its caller is known and its values are counted. A large body counts as several calls
//     of its caller, and waits until the rate permits them.

import { Code } from "@connectrpc/connect";
import type { Authenticator } from "../../platform/auth/authenticate.ts";
import type { Admission, Caller } from "../../platform/auth/caller.ts";
import type { FairTurns } from "../../platform/auth/fair-turns.ts";
import type { RateLimit } from "../../platform/auth/rate-limit.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import { type BodyReader, callsOfBytes, callsOfContent, isEnoughToWeigh, isReadAhead } from "./body-weight.ts";
import { readClientId, readCredentials, takeTicket } from "./credentials.ts";
import type { Request } from "./message.ts";
import { addressOf, networkOf } from "./network.ts";
import { type Bodies, contentsOf, type HeldBody } from "./request-body.ts";

/** The authenticator and the rate limits. */
export interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly clock: Clock;
  /** Bodies that have to be read before their caller is known, and those of known callers. */
  readonly unverifiedBodies: Bodies;
  readonly bodies: Bodies;
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
  /** The body, unless its reader reads it. A call of connect may have more than these bytes. */
  readonly body: Pick<HeldBody, "bytes" | "isWhole"> | undefined;
}

/** The access rules of the requested method. */
export interface AccessRules {
  /** True when the method needs no credentials. */
  readonly isPublic: boolean;
  readonly bodyBytesMax: number;
  /** A signed request that nothing reads must have no body: its signature would cover what has no meaning. */
  readonly reader: BodyReader;
  /** The header that may have the bearer token; undefined for none. */
  readonly keyHeader: string | undefined;
  /** True when the query may contain a ticket. */
  readonly takesTicket: boolean;
  /** True when the method needs the admin token. */
  readonly needsAdmin: boolean;
  /** True for a call that programs make all the time. */
  readonly isFrequent: boolean;
}

/** Authenticates the caller and counts the call. Returns a `Fault` as part of the admission; throws only other errors. */
export async function admit(request: Request, rules: AccessRules, options: AdmissionOptions): Promise<Admitted> {
  const { reader, isFrequent, bodyBytesMax } = rules;
  let held: HeldBody | undefined;
  const read = async (bodies: Bodies, isEnough?: typeof isEnoughToWeigh): Promise<HeldBody> =>
    (held ??= await bodies.read(request, reader.kind === "none" ? 0 : bodyBytesMax, isEnough));
  try {
    const caller = await identify(request, rules, options, async () => {
      const { bytes } = await read(options.unverifiedBodies);
      return contentsOf(bytes, request.headers["content-type"] ?? "");
    });
    const rate = isFrequent ? options.frequentRate : options.callerRate;
    const key = rateKey(caller, request);
    rate.take(key);
    if (held !== undefined || isReadAhead(request, reader)) {
      const { bytes, dropped } = await read(options.bodies, reader.kind === "message" ? isEnoughToWeigh : undefined);
      const advance = rate.openAdvance(key, bodyWaitMsMax);
      const pay = async (calls: number): Promise<void> => {
        const waitMs = advance(calls);
        if (waitMs > 0) {
          await options.clock.sleep(waitMs, dropped);
          dropped?.throwIfAborted();
        }
      };
      await pay(callsOfBytes(bytes));
      await pay(await callsOfContent(bytes, reader, request));
    }
    return { admission: { caller, network: networkOf(addressOf(request.socket)) }, body: held };
  } catch (error) {
    if (error instanceof Fault) {
      return { admission: { fault: error }, body: held };
    }
    throw error;
  } finally {
    held?.release();
  }
}

/** The maximum wait of a body: a client waits this long for an answer, and a proxy keeps the connection. */
const bodyWaitMsMax = 10_000;

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
      ...readCredentials(request, rules.keyHeader),
      httpMethod: request.method ?? "",
      target: request.url ?? "",
      address,
      ticket: rules.takesTicket ? takeTicket(request) : undefined,
      needsAdmin: rules.needsAdmin,
      readContents,
      lookUp: (ask) => lookups.run(network, () => (hasLeft(request) ? Promise.reject(clientLeft) : ask())),
    });
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== Code.Unauthenticated) {
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
