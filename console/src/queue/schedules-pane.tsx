// The schedules of this client with their next and their last time, and what a person does with one.

import { ConnectError, createClient } from "@connectrpc/connect";
import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { Link } from "wouter";
import type { Schedule } from "#gen/runnel/v1/schedule_pb.js";
import { ScheduleService } from "#gen/runnel/v1/schedule_service_pb.js";
import { transport } from "../api/transport.ts";
import { formatTime, msOf, shortId } from "../lib/format.ts";
import { inPages } from "../lib/pages.ts";
import { visibleText } from "../lib/visible-text.ts";
import { More } from "../ui/more.tsx";
import { Failure, Loading } from "../ui/notice.tsx";
import { TableHead } from "../ui/table-head.tsx";
import { showToast } from "../ui/toasts.tsx";

const service = createClient(ScheduleService, transport);
const pageSize = 50;
/** No stream tells of schedules. */
const refreshMs = 15_000;

export function SchedulesPane() {
  const list = useInfiniteQuery(
    ScheduleService.method.listSchedules,
    { pageSize, pageToken: "" },
    { ...inPages, refetchInterval: refreshMs },
  );
  const schedules = list.data?.pages.flatMap((page) => page.schedules) ?? [];
  return (
    <section className="panel" aria-labelledby="queue-schedules">
      <h2 id="queue-schedules">Your schedules</h2>
      {list.error !== null && <Failure error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && list.error === null && <Loading what="schedules" />}
      {list.data !== undefined && schedules.length === 0 && <p className="hint">There is no schedule.</p>}
      {schedules.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
        <div className="scroll" role="group" aria-label="Schedules" tabIndex={0}>
          <table className="numbers words" aria-labelledby="queue-schedules">
            <TableHead names={["Schedule", "Times", "Next", "Last", "Actions"]} />
            <tbody>
              {schedules.map((schedule) => (
                <tr key={schedule.scheduleId}>
                  <th scope="row">{visibleText(schedule.scheduleId)}</th>
                  <td className="mono">{visibleText(`${schedule.cron} ${schedule.timeZone || "UTC"}`)}</td>
                  <td>{schedule.paused ? "paused" : formatTime(msOf(schedule.nextTime) ?? 0)}</td>
                  <td>
                    <Last schedule={schedule} />
                  </td>
                  <td>
                    <Actions schedule={schedule} onDone={list.refetch} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <More list={list}>More schedules</More>
    </section>
  );
}

function Last({ schedule: { lastTime, lastRunId, lastError } }: { readonly schedule: Schedule }) {
  const lastMs = msOf(lastTime);
  if (lastMs === undefined) {
    return "–";
  }
  return (
    <>
      {formatTime(lastMs)}{" "}
      {lastRunId === "" ? visibleText(lastError) : <Link href={`/runs/${lastRunId}`}>run {shortId(lastRunId)}</Link>}
    </>
  );
}

function Actions({
  schedule: { scheduleId, paused },
  onDone,
}: {
  readonly schedule: Schedule;
  readonly onDone: () => Promise<unknown>;
}) {
  const [isBusy, setBusy] = useState(false);
  const act = async (call: () => Promise<unknown>, text: string): Promise<void> => {
    setBusy(true);
    try {
      await call();
      showToast({ tone: "good", text });
      await onDone();
    } catch (error) {
      showToast({ tone: "bad", text: ConnectError.from(error).rawMessage });
    }
    setBusy(false);
  };
  const pause = () => act(() => service.pauseSchedule({ scheduleId }), "The schedule is paused.");
  const resume = () => act(() => service.resumeSchedule({ scheduleId }), "The schedule works again.");
  const trigger = () => act(() => service.triggerSchedule({ scheduleId }), "A run of the schedule has started.");
  const name = visibleText(scheduleId);
  return (
    <>
      <button
        type="button"
        className="button quiet"
        disabled={isBusy}
        aria-label={`Start now a run of ${name}`}
        onClick={trigger}
      >
        Start now
      </button>
      <button
        type="button"
        className="button quiet"
        disabled={isBusy}
        aria-label={`${paused ? "Resume" : "Pause"} ${name}`}
        onClick={paused ? resume : pause}
      >
        {paused ? "Resume" : "Pause"}
      </button>
    </>
  );
}
