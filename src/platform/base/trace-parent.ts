// Which trace a caller's request belongs to: the header `traceparent` (W3C Trace Context) as it travels through the
// service. Who calls may send anything, so a header that is not exactly right counts as none.

import { type ContextValues, createContextKey } from "@connectrpc/connect";

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** False when the caller records nothing and wants nothing recorded. */
  readonly isSampled: boolean;
}

export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  const match = pattern.exec(text ?? "");
  if (match === null) {
    return undefined;
  }
  const [, traceId = "", spanId = "", flags = ""] = match;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

/** As the version of the standard that is spoken here has it, whatever version was read. */
export function printTraceParent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** Takes the header's value as Node has it. */
export function setTraceParent(values: ContextValues, header: string | readonly string[] | undefined): void {
  const parent = typeof header === "string" ? parseTraceParent(header) : undefined;
  if (parent !== undefined) {
    values.set(traceParentKey, printTraceParent(parent));
  }
}

/** The caller's `traceparent`, if it sent one that is right. */
export function traceParentOf(values: ContextValues): string | undefined {
  return values.get(traceParentKey);
}

const traceParentKey = createContextKey<string | undefined>(undefined, { description: "trace of the caller" });

/** Version ff and ids of zeros are invalid; later versions may be longer, but nobody speaks one yet. */
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const sampledFlag = 0x01;
