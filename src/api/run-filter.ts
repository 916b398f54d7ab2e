// Reads the filters of lists and bulk cancels of runs.

import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { CancelRunsRequest, ListRunsRequest } from "#gen/runnel/v1/run_service_pb.js";
import { statusesOf } from "../engine/runs/to-proto.ts";
import type { RunFilter } from "../engine/storage/run-filter.ts";

type Filters = Omit<CancelRunsRequest, "all" | "$typeName" | "$unknown">;

/** Returns the filters that `ListRuns` and `CancelRuns` share. */
export function readRunFilter(client: string, filters: Filters): RunFilter {
  return {
    client,
    sessionName: filters.sessionId || undefined,
    createTimeFrom: toDate(filters.createTimeFrom),
    createTimeTo: toDate(filters.createTimeTo),
    agentName: filters.agentName || undefined,
    runnerId: filters.runnerId || undefined,
    model: filters.model || undefined,
  };
}

/** Returns the filters of a list. */
export function readListFilter(client: string, request: ListRunsRequest): RunFilter {
  return {
    ...readRunFilter(client, request),
    states: request.states.length === 0 ? undefined : request.states.flatMap(statusesOf),
    changeTimeFrom: toDate(request.changeTimeFrom),
    changeTimeTo: toDate(request.changeTimeTo),
    errorContains: request.errorContains || undefined,
    failureCode: request.failureCode || undefined,
    failureCodeNot: request.failureCodeNot || undefined,
    parentRunId: request.parentRunId || undefined,
    rootRunId: request.rootRunId || undefined,
  };
}

/** Returns the time; undefined when it is unset. */
export function toDate(time: Timestamp | undefined): Date | undefined {
  return time && timestampDate(time);
}
