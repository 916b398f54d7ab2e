// What the plots show. It lives in the address, so a link shows the same.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { UsageGroup } from "#gen/runnel/v1/usage_service_pb.js";

const hourMs = 3_600_000;

/** The spans that end now. */
export const spans = {
  "1h": hourMs,
  "6h": 6 * hourMs,
  "24h": 24 * hourMs,
  "7d": 7 * 24 * hourMs,
  "30d": 30 * 24 * hourMs,
  "90d": 90 * 24 * hourMs,
} as const;

export type Span = keyof typeof spans;

export const groups = {
  agent: UsageGroup.AGENT,
  model: UsageGroup.MODEL,
  client: UsageGroup.CLIENT,
} as const;

export type Group = keyof typeof groups;

export interface PlotsFilter {
  /** Undefined for a span of its own. */
  readonly last: Span | undefined;
  /** The times of a span of its own, in milliseconds. */
  readonly from: number | undefined;
  readonly to: number | undefined;
  readonly by: Group | undefined;
  readonly agent: string;
  readonly model: string;
  readonly client: string;
  /** Whether all clients are shown, to the operator. */
  readonly ofAll: boolean;
}

/** Reads a filter. Unknown values count as unset. */
export function readFilter(parameters: URLSearchParams): PlotsFilter {
  const read = (name: string): string => parameters.get(name) ?? "";
  const [from, to] = [Date.parse(read("from")), Date.parse(read("to"))];
  const isOwn = from < to;
  const last = read("last");
  const by = read("by");
  const ofAll = read("of") === "all";
  return {
    last: isOwn ? undefined : last in spans ? (last as Span) : "24h",
    from: isOwn ? from : undefined,
    to: isOwn ? to : undefined,
    by: by in groups && (by !== "client" || ofAll) ? (by as Group) : undefined,
    ...{ agent: read("agent"), model: read("model"), client: ofAll ? read("client") : "", ofAll },
  };
}

/** Returns the request of a filter. A span that ends now ends when the service answers. */
export function toRequest(filter: PlotsFilter, nowMs: number) {
  const { last, from, to, by, agent, model, client } = filter;
  const fromMs = last === undefined ? from : nowMs - spans[last];
  return {
    ...(fromMs !== undefined && { timeFrom: timestampFromMs(fromMs) }),
    ...(to !== undefined && { timeTo: timestampFromMs(to) }),
    groupBy: by === undefined ? UsageGroup.UNSPECIFIED : groups[by],
    ...{ agentName: agent, model, client },
  };
}
