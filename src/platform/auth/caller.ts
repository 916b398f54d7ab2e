// The caller of a request. The server establishes it once, from the raw request, and carries it as a context value; handlers
// never read headers. Without a caller there is no access, and a method refuses all callers that it does not allow.

import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../base/access.ts";
import { Fault } from "../base/fault.ts";

/** A tenant: realm and id. Every row carries it. */
export interface Client {
  readonly client: string;
}

/** The only stream that a ticket opens. */
export type StreamTarget = { readonly sessionId: string } | { readonly runId: string };

/** One worker's attempt at a run. */
export interface RunAttempt {
  readonly runId: string;
  readonly attempt: number;
}

/** How a credential may end while a stream of its caller is open. */
export interface Lifetime {
  /** The API key; undefined for another credential. */
  readonly keyId?: string | undefined;
  /** When the credential expires, in milliseconds since 1970; undefined for never. */
  readonly endMs?: number | undefined;
}

/** Who sent a request. A credential of the settings has no lifetime: it ends with the process. */
export type Caller =
  | ({ readonly kind: "client"; readonly lifetime?: Lifetime | undefined } & Client)
  | ({ readonly kind: "ticket"; readonly target: StreamTarget; readonly lifetime?: Lifetime | undefined } & Client)
  /** A runner with a valid token. Whether the run is active is for the host to decide. */
  | ({ readonly kind: "run" } & RunAttempt)
  | { readonly kind: "admin" }
  /** A caller without credentials. */
  | { readonly kind: "anyone" };

/** The server's finding about a call: its caller and network, or the fault that refuses it. */
export type Admission = { readonly caller: Caller; readonly network: string } | { readonly fault: Fault };

const admissionKey = createContextKey<Admission | undefined>(undefined, { description: "who is calling" });

/** Attaches the admission to a call. */
export function setAdmission(values: ContextValues, admission: Admission): void {
  values.set(admissionKey, admission);
}

/**
 * The access check of every call on every surface. Throws ACCESS_DENIED, or the fault of the admission, unless this caller may
 * call this method.
 */
export function assertAccess(values: ContextValues, method: DescMethod): void {
  const admission = values.get(admissionKey);
  if (admission === undefined) {
    throw new Fault("INTERNAL", "a call arrived without a caller");
  }
  if ("fault" in admission) {
    throw admission.fault;
  }
  const access = accessOf(method);
  if (!isAllowed(admission.caller, access)) {
    throw new Fault("ACCESS_DENIED", `access denied: ${needs[access]}`);
  }
}

/** Returns the result of the same check without throwing. */
export function isAdmitted(values: ContextValues, method: DescMethod): boolean {
  const admission = values.get(admissionKey);
  return admission !== undefined && "caller" in admission && isAllowed(admission.caller, accessOf(method));
}

/** Returns the client that calls with its own credentials. Throws ACCESS_DENIED for another caller. */
export function requireClient(values: ContextValues): Extract<Caller, { kind: "client" }> {
  const caller = callerOf(values);
  if (caller?.kind !== "client") {
    throw new Fault("ACCESS_DENIED", `access denied: ${needs[Access.CLIENT]}`);
  }
  return caller;
}

/** Returns the run that the calling runner works on. Throws ACCESS_DENIED for another caller. */
export function requireRunAttempt(values: ContextValues): RunAttempt {
  const caller = callerOf(values);
  if (caller?.kind !== "run") {
    throw new Fault("ACCESS_DENIED", `access denied: ${needs[Access.RUN]}`);
  }
  return caller;
}

/**
 * Returns the client that may read this stream: by its own credentials, or by a ticket. Throws TICKET_INVALID when the ticket
 * is for another stream.
 */
export function requireReader(values: ContextValues, target: StreamTarget): Client {
  const caller = callerOf(values);
  if (caller?.kind !== "ticket") {
    return requireClient(values);
  }
  if (!isSameTarget(caller.target, target)) {
    throw new Fault("TICKET_INVALID", "invalid ticket: it is for another stream");
  }
  return caller;
}

/**
 * Returns the network of the call: an IPv4 address, or the first 64 bits of an IPv6 address. Returns an empty text for a
 * refused call.
 */
export function networkOfCall(values: ContextValues): string {
  const admission = values.get(admissionKey);
  return admission !== undefined && "network" in admission ? admission.network : "";
}

/** Returns a client of the shared realm. Callers may claim any id there, so these ids never equal a client with its own key. */
export function sharedClient(id: string): string {
  return `shared/${id}`;
}

/** Returns a client with its own key. */
export function keyedClient(id: string): string {
  return `key/${id}`;
}

/** Returns the plain id, as the client itself knows it. */
export function clientIdOf(client: string): string {
  return client.slice(client.indexOf("/") + 1);
}

function callerOf(values: ContextValues): Caller | undefined {
  const admission = values.get(admissionKey);
  return admission !== undefined && "caller" in admission ? admission.caller : undefined;
}

const needs = {
  [Access.CLIENT]: "the method needs the credentials of a client",
  [Access.READER]: "the method needs the credentials of a client or a stream ticket",
  [Access.RUN]: "the method needs the token of a run",
  [Access.ADMIN]: "the method needs the admin token",
  [Access.PUBLIC]: "",
} as const satisfies Record<ReturnType<typeof accessOf>, string>;

function isAllowed(caller: Caller, access: ReturnType<typeof accessOf>): boolean {
  switch (access) {
    case Access.PUBLIC:
      return true;
    case Access.ADMIN:
      return caller.kind === "admin";
    case Access.READER:
      return caller.kind === "client" || caller.kind === "ticket";
    case Access.CLIENT:
      return caller.kind === "client";
    case Access.RUN:
      return caller.kind === "run";
    default:
      return access satisfies never;
  }
}

function isSameTarget(one: StreamTarget, other: StreamTarget): boolean {
  return "sessionId" in one
    ? "sessionId" in other && one.sessionId === other.sessionId
    : "runId" in other && one.runId === other.runId;
}
