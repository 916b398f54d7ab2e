// The trace that a client's request belongs to: the header `traceparent` (W3C Trace Context) as it travels through the service.
// Clients may send anything, so an invalid header counts as missing.

import { type ContextValues, createContextKey } from "@connectrpc/connect";

/** The content of a `traceparent` header. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** False when the client records nothing and wants nothing recorded. */
  readonly isSampled: boolean;
}

/** Parses `00-<32 hex digits>-<16 hex digits>-01`. Returns undefined for an invalid header. */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  const match = pattern.exec(text ?? "");
  if (match === null) {
    return undefined;
  }
  const [, traceId = "", spanId = "", flags = ""] = match;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

/** Prints the header in version 00 of the standard, whichever version was read. */
export function printTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** Stores a valid header with the call. Takes the header's value as Node provides it. */
export function setTraceParent(values: ContextValues, header: string | readonly string[] | undefined): void {
  const parent = typeof header === "string" ? parseTraceParent(header) : undefined;
  if (parent !== undefined) {
    values.set(traceParentKey, printTraceParent(parent));
  }
}

/** Returns the client's `traceparent`. Returns undefined when it was missing or invalid. */
export function traceParentOf(values: ContextValues): string | undefined {
  return values.get(traceParentKey);
}

const traceParentKey = createContextKey<string | undefined>(undefined, { description: "trace of the caller" });

/** Version ff and ids of zeros are invalid. Later versions may be longer, but none exists yet. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const sampledFlag = 0x01;
