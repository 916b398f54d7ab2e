// ScheduleService: messages that are sent at times of a calendar.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Schedule, ScheduleSchema } from "#gen/runnel/v1/schedule_pb.js";
import type { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import {
  countSchedules,
  deleteSchedule,
  findSchedule,
  insertSchedule,
  listSchedules,
  pauseSchedule,
  recordTrigger,
  resumeSchedule,
  type ScheduleRow,
} from "../engine/storage/schedule.ts";
import { requireClient } from "../platform/auth/caller.ts";
import { Fault, invalidField } from "../platform/base/fault.ts";
import { newSessionId, newUuid } from "../platform/base/ids.ts";
import type { ServiceDeps } from "./deps.ts";
import { nextPageToken, pageSize } from "./page.ts";
import { startScheduled } from "./schedule-start.ts";
import { nextTimeOf } from "./schedule-times.ts";

const schedulesMax = 1_000;

/** Returns the handlers of ScheduleService. */
export function createScheduleService(deps: ServiceDeps): ServiceImpl<typeof ScheduleService> {
  const { db, cursors, clock } = deps;
  return {
    createSchedule: async ({ schedule = create(ScheduleSchema) }, context) => ({
      schedule: toProto(await createSchedule(deps, requireClient(context.values).client, schedule)),
    }),
    getSchedule: async ({ scheduleId: name }, context) => ({
      schedule: toProto(requireFound(await findSchedule(db, { client: requireClient(context.values).client, name }))),
    }),
    listSchedules: async (request, context) => {
      const { client } = requireClient(context.values);
      const limit = pageSize(request.pageSize);
      const scope = ["schedules", client];
      const after = cursors.decode(scope, request.pageToken);
      const rows = await listSchedules(db, { client, after, limit });
      return {
        schedules: rows.map(toProto),
        nextPageToken: nextPageToken(rows, limit, ({ name }) => cursors.encode(scope, name)),
      };
    },
    deleteSchedule: async ({ scheduleId: name }, context) => {
      if (!(await deleteSchedule(db, { client: requireClient(context.values).client, name }))) {
        throw notFound();
      }
      return {};
    },
    pauseSchedule: async ({ scheduleId: name }, context) => ({
      schedule: toProto(requireFound(await pauseSchedule(db, { client: requireClient(context.values).client, name }))),
    }),
    resumeSchedule: async ({ scheduleId: name }, context) => {
      const row = requireFound(await findSchedule(db, { client: requireClient(context.values).client, name }));
      const nextTime = nextTimeOf(fromBinary(ScheduleSchema, row.spec), clock.nowMs());
      return { schedule: toProto((await resumeSchedule(db, row.id, nextTime)) ?? row) };
    },
    triggerSchedule: async ({ scheduleId: name, requestId }, context) => {
      const row = requireFound(await findSchedule(db, { client: requireClient(context.values).client, name }));
      const { runId, sessionId } = await startScheduled(
        deps,
        row,
        `trigger ${row.id} ${requestId || newUuid(clock.nowMs())}`,
      );
      await recordTrigger(db, { id: row.id, runId });
      return { runId, sessionId };
    },
  };
}

async function createSchedule({ db, clock }: ServiceDeps, client: string, schedule: Schedule): Promise<ScheduleRow> {
  assertUnset(schedule);
  const nextTime = nextTimeOf(schedule, clock.nowMs());
  if ((await countSchedules(db, client)) >= schedulesMax) {
    throw new Fault("QUOTA_EXHAUSTED", `a client has at most ${schedulesMax} schedules`);
  }
  const name = schedule.scheduleId || newSessionId();
  const { cron, timeZone, sessionId, session, message } = schedule;
  const spec = create(ScheduleSchema, {
    cron,
    timeZone,
    sessionId,
    ...(session && { session }),
    ...(message && { message }),
  });
  const id = newUuid(clock.nowMs());
  const row = await insertSchedule(db, { id, client, name, spec: toBinary(ScheduleSchema, spec), nextTime });
  if (row === undefined) {
    throw new Fault("SCHEDULE_EXISTS", `schedule "${name}" already exists`);
  }
  return row;
}

/** Throws INVALID_ARGUMENT for fields that the service itself sets at each time. */
function assertUnset({ session, message }: Schedule): void {
  const fields = {
    "session.session_id": session?.sessionId,
    "session.request_id": session?.requestId,
    "message.session_id": message?.sessionId,
    "message.request_id": message?.requestId,
    "message.after_run_id": message?.afterRunId,
    "message.start_time": message?.startTime && "set",
  };
  for (const [field, value] of Object.entries(fields)) {
    if (value !== undefined && value !== "") {
      throw invalidField(`schedule.${field}`, "must be unset: each time has its own");
    }
  }
}

function toProto(row: ScheduleRow): Schedule {
  const time = (name: string, value: Date | null) => (value === null ? {} : { [name]: timestampFromDate(value) });
  return create(ScheduleSchema, {
    ...fromBinary(ScheduleSchema, row.spec),
    scheduleId: row.name,
    ...time("nextTime", row.next_time),
    ...time("lastTime", row.last_time),
    lastRunId: row.last_run_id ?? "",
    lastError: row.last_error ?? "",
    ...time("createTime", row.create_time),
    paused: row.next_time === null,
  });
}

function requireFound(row: ScheduleRow | undefined): ScheduleRow {
  if (row === undefined) {
    throw notFound();
  }
  return row;
}

function notFound(): Fault {
  return new Fault("SCHEDULE_NOT_FOUND", "schedule not found");
}
