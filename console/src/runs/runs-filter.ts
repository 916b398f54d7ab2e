// The filter of the list of runs. It lives in the address, so a link shows the same list.

import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { stateNames } from "../../../src/platform/run-view/state-names.ts";
import { ListOrder } from "../api/list-calls.ts";
import { msOf } from "../lib/format.ts";
import { isActive } from "../lib/run-state.ts";

/** The texts of a filter by the name of their parameter. */
export const textFields = {
  words: "Has words",
  session: "Session id",
  agent: "Agent name",
  model: "Model",
  runner: "Runner id",
  error: "Error contains",
} as const;

export type TextField = keyof typeof textFields;

/** Spans of time that the filter offers, with their length. */
export const spans = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "2d": 172_800_000,
  "7d": 604_800_000,
  "30d": 2_592_000_000,
} as const;

export interface RunsFilter extends Readonly<Record<TextField, string>> {
  readonly states: readonly Run_State[];
  /** Earliest time, inclusive; undefined means any. */
  readonly fromMs: number | undefined;
  /** Latest time, exclusive; undefined means any. */
  readonly toMs: number | undefined;
  /** Whether the times are those of the last change, which for an ended run is its end. Else they are those of its creation. */
  readonly isByChange: boolean;
}

/** Reads a filter. Unknown values count as unset. */
export function readFilter(parameters: URLSearchParams, nowMs: number): RunsFilter {
  const named = new Set((parameters.get("state") ?? "").split(","));
  const states = Object.entries(stateNames).flatMap(([state, name]) => (named.has(name) ? [Number(state)] : []));
  const span = spans[(parameters.get("since") ?? "") as keyof typeof spans];
  const texts = Object.keys(textFields).map((field) => [field, parameters.get(field) ?? ""]);
  return {
    ...(Object.fromEntries(texts) as Record<TextField, string>),
    states: states.filter((state) => state !== Run_State.UNSPECIFIED),
    // By the minute, so that the same list is asked for while one looks at it.
    fromMs: span === undefined ? timeIn(parameters, "from") : Math.floor((nowMs - span) / 60_000) * 60_000,
    toMs: span === undefined ? timeIn(parameters, "to") : undefined,
    isByChange: parameters.get("time") === "changed",
  };
}

/** Returns a time of an address in milliseconds; undefined without a valid one. */
export function timeIn(parameters: URLSearchParams, name: string): number | undefined {
  const ms = Date.parse(parameters.get(name) ?? "");
  return Number.isNaN(ms) || ms < 0 ? undefined : ms;
}

/** Returns the request of a filter, for ListRuns. */
export function toRequest({ states, fromMs, toMs, isByChange, session, agent, model, runner, error }: RunsFilter) {
  const [from, to] = [fromMs, toMs].map((ms) => (ms === undefined ? undefined : timestampFromMs(ms)));
  return {
    states: [...states],
    sessionId: session,
    agentName: agent,
    model,
    runnerId: runner,
    errorContains: error,
    ...(from && { [isByChange ? "changeTimeFrom" : "createTimeFrom"]: from }),
    ...(to && { [isByChange ? "changeTimeTo" : "createTimeTo"]: to }),
    ...(isByChange && { order: ListOrder.CHANGE_TIME }),
  };
}

/** Whether a run that has changed belongs to the list. */
function matches(run: Run, filter: RunsFilter): boolean {
  const { states, fromMs, toMs, session, agent, model, runner, error } = filter;
  const timeMs = timeOf(run, filter);
  return (
    (agent === "" || run.agentName === agent) &&
    (states.length === 0 || states.includes(run.state)) &&
    (session === "" || run.sessionId === session) &&
    (model === "" || run.model === model) &&
    (runner === "" || run.runnerId === runner) &&
    (error === "" || `${run.failureCode} ${run.error}`.toLowerCase().includes(error.toLowerCase())) &&
    (fromMs === undefined || timeMs === undefined || timeMs >= fromMs) &&
    (toMs === undefined || timeMs === undefined || timeMs < toMs)
  );
}

function timeOf({ createTime, changeTime }: Run, { isByChange }: RunsFilter): number | undefined {
  return msOf(isByChange ? changeTime : createTime);
}

/** Lists the states that a filter offers. */
export const offeredStates: readonly Run_State[] = [
  Run_State.RUNNING,
  Run_State.QUEUED,
  Run_State.WAITING,
  Run_State.COMPLETED,
  Run_State.FAILED,
  Run_State.CANCELLED,
];

/** Merges what a list has with what has changed since, newest first. */
export function mergeRuns(listed: readonly Run[], changed: ReadonlyMap<string, Run>, filter: RunsFilter): Run[] {
  const ids = new Set(listed.map(({ runId }) => runId));
  const current = listed.map((run) => changed.get(run.runId) ?? run).filter((run) => matches(run, filter));
  const added = [...changed.values()].filter((run) => !ids.has(run.runId) && matches(run, filter));
  const newestFirst = (one: Run, other: Run): number => {
    const byChange = filter.isByChange ? (timeOf(other, filter) ?? 0) - (timeOf(one, filter) ?? 0) : 0;
    return byChange || (one.runId < other.runId ? 1 : -1);
  };
  // Runs behind the end of the list are on a page that is not loaded, unless they are active.
  const oldest = listed.at(-1);
  const shown = added.filter(
    (run) => oldest === undefined || newestFirst(run, oldest) < 0 || (!filter.isByChange && isActive(run.state)),
  );
  return [...current, ...shown].sort(newestFirst);
}
