// Who is calling. Established once, in the server, over the raw request, and carried as a context value; handlers never
// read headers. Without a caller there is no access, and what a method does not allow is refused.

import type { DescMethod } from "@bufbuild/protobuf";
import { type ContextValues, createContextKey } from "@connectrpc/connect";
import { Access } from "#gen/runnel/options/v1/options_pb.js";
import { accessOf } from "../base/access.ts";
import { Fault } from "../base/fault.ts";

/** A tenant: realm and id. Every row carries it. */
export interface Client {
  readonly client: string;
}

/** The one stream that a ticket opens. */
export type StreamTarget = { readonly sessionId: string } | { readonly runId: string };

/** One worker's time with a run. */
export interface RunAttempt {
  readonly runId: string;
  readonly attempt: number;
}

export type Caller =
  | ({ readonly kind: "client" } & Client)
  | ({ readonly kind: "ticket"; readonly target: StreamTarget } & Client)
  /** A runner, as far as its token is right; whether the run is active is for the host to say. */
  | ({ readonly kind: "run" } & RunAttempt)
  | { readonly kind: "admin" }
  /** Nobody in particular. */
  | { readonly kind: "anyone" };

/** What the server found out about a call: who it is and from which network, or why that cannot be said. */
export type Admission = { readonly caller: Caller; readonly network: string } | { readonly fault: Fault };

const admissionKey = createContextKey<Admission | undefined>(undefined, { description: "who is calling" });

export function setAdmission(values: ContextValues, admission: Admission): void {
  values.set(admissionKey, admission);
}

/** The gate of every call on every surface: throws unless this caller may call this method. */
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

/** The same question without a throw. */
export function isAdmitted(values: ContextValues, method: DescMethod): boolean {
  const admission = values.get(admissionKey);
  return admission !== undefined && "caller" in admission && isAllowed(admission.caller, accessOf(method));
}

/** The client that calls with credentials of its own. */
export function requireClient(values: ContextValues): Client {
  const caller = callerOf(values);
  if (caller?.kind !== "client") {
    throw new Fault("ACCESS_DENIED", `access denied: ${needs[Access.CLIENT]}`);
  }
  return caller;
}

/** The run that a runner works on while it calls. */
export function requireRunAttempt(values: ContextValues): RunAttempt {
  const caller = callerOf(values);
  if (caller?.kind !== "run") {
    throw new Fault("ACCESS_DENIED", `access denied: ${needs[Access.RUN]}`);
  }
  return caller;
}

/** The client that may follow just this: by its own credentials, or by a ticket for it. */
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

/** Where the call came from: an address, or what a site has of them. */
export function networkOfCall(values: ContextValues): string {
  const admission = values.get(admissionKey);
  return admission !== undefined && "network" in admission ? admission.network : "";
}

/** Any id is believed here, so such ids have a realm of their own: they never equal a client that has a key. */
export function sharedClient(id: string): string {
  return `shared/${id}`;
}

/** A client that has a key of its own. */
export function keyedClient(id: string): string {
  return `key/${id}`;
}

/** The id alone, as the client itself knows it. */
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
