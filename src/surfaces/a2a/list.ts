// `ListTasks`: the caller's tasks, the newest status first. The contract pages the list and counts it, so a page costs the same however
// many tasks there are. The contract has fewer states of active runs than A2A, so those are filtered here: active tasks are few.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
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
import { ListRunsRequest_Order, type ListRunsRequestSchema, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { firstFilledPage, pageSizeMax, readPages } from "../../platform/base/lists.ts";
import { isReason } from "../rest/failure.ts";
import type { A2aCall } from "./call.ts";
import { InvalidField } from "./errors.ts";
import { sessionOf } from "./start.ts";
import { findQuestions, readTask, trim } from "./tasks.ts";

const tasksMax = 100;
const tasksDefault = 50;

export async function listTasks(call: A2aCall, request: ListTasksRequest): Promise<ListTasksResponse> {
  const { pageSize = tasksDefault, historyLength, statusTimestampAfter, status, contextId, pageToken } = request;
  if (pageSize < 1 || pageSize > tasksMax) {
    throw new InvalidField("pageSize", `must be 1 to ${tasksMax}`);
  }
  const filters: Filters = {
    order: ListRunsRequest_Order.CHANGE_TIME,
    sessionId: contextId === "" ? "" : sessionOf(contextId),
    ...(statusTimestampAfter !== undefined && { changeTimeFrom: statusTimestampAfter }),
  };
  const wanted = filtersOf[status];
  const page = await (wanted === undefined
    ? listActive(call, { ...filters, states: [Run_State.RUNNING, Run_State.WAITING] }, { status, pageSize, pageToken })
    : listPage(call, { ...filters, ...wanted, pageSize, pageToken }));
  const tasks: Task[] = [];
  for (const run of page.runs) {
    const { task } = await readTask(call, run);
    const shown = { ...task, ...(request.includeArtifacts !== true && { artifacts: [] }) };
    tasks.push(trim(withTime(shown, run.changeTime), historyLength));
  }
  return create(ListTasksResponseSchema, { ...page, tasks, pageSize });
}

/** A request of the contract, by its fields. */
type Filters = Omit<
  Extract<MessageInitShape<typeof ListRunsRequestSchema>, { readonly $typeName?: never }>,
  "$typeName"
>;

/** The list is in the order of these times, so its tasks show them. */
function withTime({ status, ...task }: Task, timestamp: Timestamp | undefined): Task {
  return { ...task, ...(status && { status: { ...status, ...(timestamp && { timestamp }) } }) };
}

/** What the contract's list takes for a state; nothing for states that the contract does not have. */
const filtersOf: Readonly<Partial<Record<TaskState, Filters>>> = {
  [TaskState.UNSPECIFIED]: {},
  [TaskState.SUBMITTED]: { states: [Run_State.QUEUED] },
  [TaskState.COMPLETED]: { states: [Run_State.COMPLETED] },
  [TaskState.CANCELED]: { states: [Run_State.CANCELLED] },
  [TaskState.FAILED]: { states: [Run_State.FAILED], failureCodeNot: "rejected" },
  [TaskState.REJECTED]: { states: [Run_State.FAILED], failureCode: "rejected" },
};

interface Page {
  readonly runs: readonly Run[];
  readonly nextPageToken: string;
  readonly totalSize: number;
}

/** Goes on over empty pages: a client of A2A may take one for the end. */
async function listPage({ calls }: A2aCall, { pageToken: first = "", ...request }: Filters): Promise<Page> {
  let total = 0;
  try {
    const { runs, nextPageToken } = await firstFilledPage(
      first,
      async (pageToken) => {
        const page = await calls.call(RunService.method.listRuns, {
          ...request,
          pageToken,
          count: pageToken === first,
        });
        total = page.totalSize ?? total;
        return page;
      },
      (page) => page.runs,
    );
    return { runs, nextPageToken, totalSize: total };
  } catch (error) {
    throw isReason(error, "CURSOR_INVALID") ? wrongToken() : error;
  }
}

/** A list of active tasks in one of their states. Each page begins after the task that its token names. */
async function listActive(
  call: A2aCall,
  request: Filters,
  { status, pageSize, pageToken }: Pick<ListTasksRequest, "status" | "pageToken"> & { readonly pageSize: number },
): Promise<Page> {
  const before = readToken(pageToken);
  const asking = await findAsking(call);
  const active = await readPages(async (token) => {
    const page = await call.calls.call(RunService.method.listRuns, {
      ...request,
      pageSize: pageSizeMax,
      pageToken: token,
    });
    return { items: page.runs, nextPageToken: page.nextPageToken };
  });
  const stateOf = (run: Run): TaskState => {
    const asks = run.state === Run_State.WAITING && findQuestions(call, run) !== undefined;
    return asking.has(run.runId) ? TaskState.AUTH_REQUIRED : asks ? TaskState.INPUT_REQUIRED : TaskState.WORKING;
  };
  const matching = active.filter((run) => stateOf(run) === status).toSorted(compare);
  const rest = before === undefined ? matching : matching.filter((run) => comparePlaces(before, placeOf(run)) < 0);
  const runs = rest.slice(0, pageSize);
  const last = rest.length > pageSize ? runs.at(-1) : undefined;
  return { runs, nextPageToken: last === undefined ? "" : printToken(placeOf(last)), totalSize: matching.length };
}

/** Returns the runs that wait for an approval. */
async function findAsking({ calls }: A2aCall): Promise<ReadonlySet<string>> {
  const approvals = await readPages(async (pageToken) => {
    const request = { state: Approval_State.PENDING, pageSize: pageSizeMax, pageToken };
    const page = await calls.call(ApprovalService.method.listApprovals, request);
    return { items: page.approvals, nextPageToken: page.nextPageToken };
  });
  return new Set(approvals.map(({ runId }) => runId));
}

/** Where a run is in a list: newest first, and of two at the same time the one that began later. */
interface Place {
  readonly atMs: number;
  readonly runId: string;
}

function placeOf({ changeTime, runId }: Run): Place {
  return { atMs: changeTime === undefined ? 0 : timestampMs(changeTime), runId };
}

function compare(one: Run, other: Run): number {
  return comparePlaces(placeOf(one), placeOf(other));
}

function comparePlaces(one: Place, other: Place): number {
  return other.atMs - one.atMs || (one.runId < other.runId ? 1 : one.runId > other.runId ? -1 : 0);
}

function printToken({ atMs, runId }: Place): string {
  return Buffer.from(`${atMs} ${runId}`).toString("base64url");
}

function readToken(token: string): Place | undefined {
  const [, atMs, runId] = /^(\d{1,16}) ([0-9a-f-]{36})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (token !== "" && runId === undefined) {
    throw wrongToken();
  }
  return runId === undefined ? undefined : { atMs: Number(atMs), runId };
}

function wrongToken(): InvalidField {
  return new InvalidField("pageToken", "must be the nextPageToken of an earlier answer to the same request");
}
