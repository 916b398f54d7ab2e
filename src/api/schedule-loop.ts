// Sends the messages of schedules at their times. Every replica looks; a request id for each time makes one run of it.
//
// T1  A time is worked on before the next one is written: a replica that dies in between leaves it to another.
// T2  A start that is refused is recorded, and not tried again. One that meets an outage is tried again at the next look.
// T3  An error in one schedule does not hold up the others: its start is not tried again either.

import { fromBinary } from "@bufbuild/protobuf";
import { ScheduleSchema } from "#gen/runnel/v1/schedule_pb.js";
import { advanceSchedule, type DueSchedule, listDueSchedules } from "../engine/storage/schedule.ts";
import { Fault } from "../platform/base/fault.ts";
import { Loop } from "../platform/base/loop.ts";
import { isOutage } from "../platform/database/errors.ts";
import type { ServiceDeps } from "./deps.ts";
import { startScheduled } from "./schedule-start.ts";
import { nextTimeOf } from "./schedule-times.ts";

/** The look of the reaper wakes the loop while a schedule is due. */
const lookMs = 60_000;
/** The maximum of schedules in a look. */
const schedulesPerLook = 50;

/** Creates the loop. */
export function createScheduleLoop(deps: ServiceDeps): Loop {
  return new Loop({
    clock: deps.clock,
    everyMs: lookMs,
    waitsFirst: true,
    pass: async () => {
      for (const row of await listDueSchedules(deps.db, schedulesPerLook)) {
        await work(deps, row);
      }
    },
    onError: (error) => deps.events.databaseTroubled({ part: "schedules", error }),
  });
}

async function work(deps: ServiceDeps, row: DueSchedule): Promise<void> {
  const { id, next_time: time } = row;
  const outcome = await send(deps, row);
  const nextTime = nextTimeOf(fromBinary(ScheduleSchema, row.spec), Math.max(deps.clock.nowMs(), time.getTime()));
  await advanceSchedule(deps.db, { id, time, nextTime, ...outcome });
}

interface Outcome {
  readonly runId: string | undefined;
  readonly error: string | undefined;
}

async function send(deps: ServiceDeps, row: DueSchedule): Promise<Outcome> {
  const requestId = `schedule ${row.id} ${row.next_time.getTime()}`;
  try {
    return { runId: (await startScheduled(deps, row, requestId)).runId, error: undefined };
  } catch (error) {
    if (isOutage(error)) {
      throw error;
    }
    if (error instanceof Fault) {
      return { runId: undefined, error: `${error.reason}: ${error.message}` };
    }
    deps.events.requestFailed({ method: "schedule", error });
    return { runId: undefined, error: "INTERNAL: see the log of the service" };
  }
}
