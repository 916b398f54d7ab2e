// `ListTasks`: the caller's tasks, the newest status first. The contract lists runs by their creation, so all are read, and each page
// begins after the task that its token names.

import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type ListTasksRequest,
  type ListTasksResponse,
  ListTasksResponseSchema,
  type Task,
  TaskState,
} from "#gen/lf/a2a/v1/a2a_pb.js";
import { Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { pageSizeMax, readPages } from "../../platform/base/lists.ts";
import type { A2aCall } from "./call.ts";
import { InvalidField } from "./errors.ts";
import { sessionOf } from "./start.ts";
import { hasEnded, readTask, trim } from "./tasks.ts";

const tasksMax = 100;
const tasksDefault = 50;

/** A run, and where it is in the list. */
interface Place {
  readonly run: Run;
  readonly state: TaskState;
  readonly atMs: number;
}

export async function listTasks(call: A2aCall, request: ListTasksRequest): Promise<ListTasksResponse> {
  const { pageSize = tasksDefault, historyLength, statusTimestampAfter, status, contextId } = request;
  if (pageSize < 1 || pageSize > tasksMax) {
    throw new InvalidField("pageSize", `must be 1 to ${tasksMax}`);
  }
  const before = readToken(request.pageToken);
  const afterMs = statusTimestampAfter === undefined ? Number.NEGATIVE_INFINITY : timestampMs(statusTimestampAfter);
  const places = (await readPlaces(call, contextId))
    .filter(({ state, atMs }) => (status === TaskState.UNSPECIFIED || state === status) && atMs >= afterMs)
    .toSorted(compare);
  const from = before === undefined ? 0 : places.findIndex((place) => compare(place, before) > 0);
  const page = from === -1 ? [] : places.slice(from, from + pageSize);
  const tasks: Task[] = [];
  for (const { run } of page) {
    const { task } = await readTask(call, run);
    tasks.push(trim(request.includeArtifacts === true ? task : { ...task, artifacts: [] }, historyLength));
  }
  const last = page.at(-1);
  const hasMore = last !== undefined && from + page.length < places.length;
  return create(ListTasksResponseSchema, {
    tasks,
    nextPageToken: hasMore ? printToken(last) : "",
    pageSize,
    totalSize: places.length,
  });
}

async function readPlaces({ calls }: A2aCall, contextId: string): Promise<readonly Place[]> {
  const sessionId = contextId === "" ? "" : sessionOf(contextId);
  const runs = await readPages(async (pageToken) => {
    const page = await calls.call(RunService.method.listRuns, { sessionId, pageSize: pageSizeMax, pageToken });
    return { items: page.runs, nextPageToken: page.nextPageToken };
  });
  const approvals = await readPages(async (pageToken) => {
    const request = { state: Approval_State.PENDING, pageSize: pageSizeMax, pageToken };
    const page = await calls.call(ApprovalService.method.listApprovals, request);
    return { items: page.approvals, nextPageToken: page.nextPageToken };
  });
  const asked = new Map(approvals.map(({ runId, createTime }) => [runId, createTime]));
  return runs.map((run) => {
    const question = hasEnded(run) ? undefined : asked.get(run.runId);
    return {
      run,
      state: question === undefined ? stateOf(run) : TaskState.AUTH_REQUIRED,
      atMs: msOf(question ?? run.endTime ?? run.startTime ?? run.createTime),
    };
  });
}

const states = {
  [Run_State.UNSPECIFIED]: TaskState.UNSPECIFIED,
  [Run_State.QUEUED]: TaskState.SUBMITTED,
  [Run_State.RUNNING]: TaskState.WORKING,
  [Run_State.WAITING]: TaskState.WORKING,
  [Run_State.COMPLETED]: TaskState.COMPLETED,
  [Run_State.FAILED]: TaskState.FAILED,
  [Run_State.CANCELLED]: TaskState.CANCELED,
} as const satisfies Record<Run_State, TaskState>;

function stateOf({ state, failureCode }: Run): TaskState {
  return failureCode === "rejected" ? TaskState.REJECTED : states[state];
}

function msOf(time: Timestamp | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}

/** Newest first. Ids of runs sort by their creation. */
function compare(
  one: Pick<Place, "atMs" | "run">,
  other: Pick<Place, "atMs"> & { readonly run: { readonly runId: string } },
) {
  return other.atMs - one.atMs || (one.run.runId < other.run.runId ? 1 : one.run.runId > other.run.runId ? -1 : 0);
}

function printToken({ atMs, run }: Place): string {
  return Buffer.from(`${atMs} ${run.runId}`).toString("base64url");
}

function readToken(token: string): { readonly atMs: number; readonly run: { readonly runId: string } } | undefined {
  const [, atMs, runId] = /^(\d{1,16}) ([0-9a-f-]{36})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (token !== "" && runId === undefined) {
    throw new InvalidField("pageToken", "must be the nextPageToken of an earlier answer");
  }
  return runId === undefined ? undefined : { atMs: Number(atMs), run: { runId } };
}
