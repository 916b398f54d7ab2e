// Converts run rows to the contract. The end of a run is read from its terminal result.

import { create, type DescField, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ContentElementSchema, ContentPartsSchema, MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { RunCompletedSchema, RunFailedSchema, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { type Run, Run_State, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { firstCharacters } from "../../platform/base/first-characters.ts";
import type { Db, Transaction } from "../../platform/database/database.ts";
import { closeMessage } from "../log/close-message.ts";
import { decodeResult } from "../log/result.ts";
import { completedText } from "../sessions/message-text.ts";
import type { ClientRun } from "../storage/client-run.ts";
import { firstWords } from "../storage/first-words.ts";
import type { RunStatus } from "../storage/schema.ts";
import type { Driver, RunDetails } from "./driver.ts";

const states = {
  pending: Run_State.QUEUED,
  queued: Run_State.QUEUED,
  running: Run_State.RUNNING,
  waiting: Run_State.WAITING,
  completed: Run_State.COMPLETED,
  failed: Run_State.FAILED,
  cancelled: Run_State.CANCELLED,
} as const satisfies Record<RunStatus, Run_State>;

/** Returns the statuses of runs in this state; none for a state that no run has. */
export function statusesOf(state: Run_State): readonly RunStatus[] {
  return statuses.filter((status) => states[status] === state);
}

const statuses = Object.keys(states) as RunStatus[];

/** What the conversion of runs works with. */
export interface RunsToProtoDeps {
  readonly db: Db | Transaction;
  readonly findDriver: (name: string) => Pick<Driver, "describeRuns"> | undefined;
}

/** Returns the runs in the order of the rows, with the details from their drivers. Of an output, 0 characters mean all. */
export async function runsToProto(
  { db, findDriver }: RunsToProtoDeps,
  rows: readonly ClientRun[],
  outputCharsMax = 0,
): Promise<Run[]> {
  const details = new Map<string, RunDetails>();
  for (const [driver, runs] of Map.groupBy(rows, (row) => row.driver)) {
    const known = await findDriver(driver)?.describeRuns?.(
      db,
      runs.map(({ id }) => id),
    );
    for (const [id, each] of known ?? []) {
      details.set(id, each);
    }
  }
  const runs = rows.map((row) => runToProto(row, details.get(row.id)));
  return outputCharsMax === 0 ? runs : runs.map((run) => shorten(run, outputCharsMax));
}

/** Returns one run. */
export function runToProto(row: ClientRun, details: RunDetails = {}): Run {
  return create(RunSchema, {
    runId: row.id,
    sessionId: row.session_name,
    state: states[row.status],
    driver: row.driver,
    turns: row.turn,
    takeovers: row.takeovers,
    waitReason: row.wait_reason ?? "",
    model: row.model ?? "",
    lastSequence: BigInt(row.last_sequence),
    parentRunId: row.parent_run_id ?? "",
    rootRunId: row.root_run_id ?? "",
    depth: row.depth,
    agentName: row.agent_name ?? "",
    inputExcerpt: row.input_excerpt ?? (row.input === null ? "" : firstWords(row.input)),
    annotations: row.annotations ?? "",
    ...timeField("createTime", row.create_time),
    ...timeField("startTime", row.start_time),
    ...timeField("endTime", row.end_time),
    ...timeField("changeTime", row.end_time ?? row.change_time ?? row.start_time ?? row.create_time),
    ...timeField("deadlineTime", row.deadline),
    ...timeField("dueTime", row.status === "queued" ? row.wake_at : null),
    ...timeField("cancelRequestTime", row.cancel_request_time),
    ...details,
    ...(row.terminal !== null && terminalToProto(row.terminal)),
  });
}

function shorten(run: Run, outputCharsMax: number): Run {
  const output = firstCharacters(run.output, outputCharsMax);
  return { ...run, output, isOutputCut: run.isOutputCut || output.length < run.output.length };
}

function timeField(name: string, time: Date | null) {
  return time === null ? {} : { [name]: timestampFromDate(time) };
}

function terminalToProto(bytes: Uint8Array): MessageInitShape<typeof RunSchema> {
  const closed = closeMessage(RunResultSchema, bytes);
  const { payload, usage } = decodeResult(closed.bytes);
  const known = { ...(usage && { usage }), isOutputCut: closed.cutField !== undefined && cutsOutput(closed.cutField) };
  if (payload.case === "runCompleted") {
    return { ...known, output: completedText(payload.value) };
  }
  if (payload.case === "runFailed") {
    const { output, code, error } = payload.value;
    return { ...known, output, failureCode: code, error };
  }
  return known;
}

/** Returns whether a part of the output is missing when the bytes of a terminal result end in this field. */
function cutsOutput(field: DescField): boolean {
  return partsOfOutput.has(field.parent) || outputFields.has(field);
}

const partsOfOutput: ReadonlySet<unknown> = new Set([ContentPartsSchema, ContentElementSchema]);
const outputFields: ReadonlySet<unknown> = new Set([
  MessageSchema.field.text,
  MessageSchema.field.parts,
  RunCompletedSchema.field.output,
  // It comes before the output.
  RunFailedSchema.field.error,
  RunFailedSchema.field.output,
]);
