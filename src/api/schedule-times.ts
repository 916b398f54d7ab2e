// Computes the times of schedules.

import { Cron } from "croner";
import type { Schedule } from "#gen/runnel/v1/schedule_pb.js";
import { invalidField } from "../platform/base/fault.ts";

/**
 * Returns the first time after `afterMs`.
 * @throws Fault INVALID_ARGUMENT for times or a zone that cannot be read, and for times that never come.
 */
export function nextTimeOf({ cron, timeZone }: Pick<Schedule, "cron" | "timeZone">, afterMs: number): Date {
  if (!isZone(timeZone)) {
    throw invalidField("schedule.time_zone", "must be a name of the IANA database, such as Europe/Rome");
  }
  const next = read(cron, timeZone)?.nextRun(new Date(afterMs));
  if (next === undefined) {
    throw invalidField("schedule.cron", "must have five fields of cron, such as 0 7 * * MON-FRI");
  }
  if (next === null) {
    throw invalidField("schedule.cron", "names a time that never comes");
  }
  return next;
}

function read(cron: string, timeZone: string): Cron | undefined {
  try {
    return new Cron(cron, { mode: "5-part", timezone: timeZone || "UTC" });
  } catch {
    return undefined;
  }
}

function isZone(timeZone: string): boolean {
  try {
    return timeZone === "" || new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
