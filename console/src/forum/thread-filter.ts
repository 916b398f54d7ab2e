// The filter of the list of threads. It lives in the address, so a link shows the same list.

import { ListThreadsRequest_RequestStatus as RequestStatus } from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { ForumThread_Type as Type } from "#gen/runnel/community/v1/forum_pb.js";

export interface ThreadFilter {
  readonly type: Type;
  readonly requestStatus: RequestStatus;
}

/** The types of threads, as the address and the page name them. */
export const typeNames = {
  [Type.UNSPECIFIED]: "unknown",
  [Type.SYSTEM]: "system",
  [Type.DISCUSSION]: "discussion",
  [Type.REQUEST_TO_HUMAN]: "request",
  [Type.REPORT_TO_HUMAN]: "report",
} as const satisfies Record<Type, string>;

/** The statuses of requests, as the contract, the address and the page name them. */
const statusNames = {
  [RequestStatus.UNSPECIFIED]: "unknown",
  [RequestStatus.PENDING]: "pending",
  [RequestStatus.RESOLVED]: "resolved",
  [RequestStatus.REJECTED]: "rejected",
} as const satisfies Record<RequestStatus, string>;

/** What the filter offers, by the parameter of the address. A status is one of requests, so one choice is enough. */
export const offered = [
  ...["discussion", "request", "report", "system"].map((value) => ({ name: "type", value })),
  ...["pending", "resolved", "rejected"].map((value) => ({ name: "status", value })),
] as const;

/** Reads a filter. Unknown values count as unset. */
export function readFilter(parameters: URLSearchParams): ThreadFilter {
  return {
    type: findValue(typeNames, parameters.get("type")),
    requestStatus: findValue(statusNames, parameters.get("status")),
  };
}

function findValue(names: Readonly<Record<number, string>>, asked: string | null): number {
  return Number(Object.entries(names).find(([, name]) => name === asked)?.[0] ?? 0);
}
