// `runnel schedules`: runs that begin by the clock.

import type { Command } from "commander";
import { type Schedule, ScheduleSchema } from "#gen/runnel/v1/schedule_pb.js";
import {
  DeleteScheduleResponseSchema,
  ScheduleService,
  TriggerScheduleResponseSchema,
} from "#gen/runnel/v1/schedule_service_pb.js";
import { type AgentFlags, addAgentFlags, readAgent } from "./agent-flags.ts";
import { type Answer, addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { answerJson } from "./answer-json.ts";
import { withService } from "./connect.ts";
import { example } from "./example.ts";
import { readMessage } from "./message.ts";
import { outputOf, type Paint, printsIds } from "./output.ts";
import { sheet, timeOf } from "./sheet.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";

interface CreateFlags extends AgentFlags, ServiceFlags {
  readonly id: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly session?: string;
}

/** Defines `schedules`. */
export function defineSchedules(schedules: Command): void {
  addScheduleList(schedules);
  addSchedule(schedules);
  addCreate(schedules);
  addPause(schedules);
  addResume(schedules);
  addTrigger(schedules);
  addDelete(schedules);
}

function addScheduleList(schedules: Command): void {
  addLimitFlag(addServiceFlags(schedules.command("list")))
    .description("list schedules, newest first")
    .addHelpText("after", example("runnel schedules list"))
    .action((flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "schedules",
        schema: ScheduleSchema,
        id: ({ scheduleId }) => scheduleId,
        read: async ({ client }, request) => {
          const page = await client(ScheduleService).listSchedules(request);
          return { items: page.schedules, nextPageToken: page.nextPageToken };
        },
        columns: ["SCHEDULE", "CRON", "NEXT", "LAST", "LAST RUN", "ERROR"],
        row: (schedule) => {
          const { scheduleId, cron, lastTime, lastRunId, lastError } = schedule;
          return [scheduleId, cron, nextOf(schedule), timeOf(lastTime), lastRunId || "–", lastError];
        },
        wide: {
          ZONE: ({ timeZone }) => timeZone || "UTC",
          SESSION: ({ sessionId }) => sessionId || "–",
          AGENT: (schedule) => agentOf(schedule) || "–",
          MESSAGE: ({ message }) => message?.message ?? "",
        },
      }),
    );
}

function addSchedule(schedules: Command): void {
  printsIds(addServiceFlags(schedules.command("show <id>")))
    .description("show a schedule")
    .addHelpText("after", example("runnel schedules show nightly"))
    .action((scheduleId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { schedule } = await client(ScheduleService).getSchedule({ scheduleId });
        await answerOne(command, scheduleAnswer(schedule));
      }),
    );
}

function addCreate(schedules: Command): void {
  addAgentFlags(printsIds(addServiceFlags(schedules.command("create <message>"))))
    .description("start a run at the times of a cron expression; - reads the message from standard input")
    .addHelpText("after", example('runnel schedules create "Report what changed." --cron "0 7 * * 1-5" --id nightly'))
    .requiredOption("--cron <expression>", "minute, hour, day of the month, month, day of the week")
    .option("--time-zone <name>", "time zone of the expression, such as Europe/Berlin; unset means UTC", "")
    .option("--id <id>", "id of the schedule; unset means one that the service chooses", "")
    .option("--session <id>", "session of all its runs; unset means a new one for each run")
    .action(async (words: string, flags: CreateFlags, command: Command) => {
      const message = await readMessage(words, []);
      const session = { preset: flags.agent, agent: await readAgent(flags) };
      await withService(flags, async ({ client }) => {
        const { schedule } = await client(ScheduleService).createSchedule({
          schedule: {
            ...{ scheduleId: flags.id, cron: flags.cron, timeZone: flags.timeZone, message },
            ...(flags.session === undefined ? { session } : { sessionId: flags.session }),
          },
        });
        await answerOne(command, scheduleAnswer(schedule));
      });
    });
}

function addPause(schedules: Command): void {
  printsIds(addServiceFlags(schedules.command("pause <id>")))
    .description("start no runs of a schedule until it is resumed")
    .addHelpText("after", example("runnel schedules pause nightly"))
    .action((scheduleId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { schedule } = await client(ScheduleService).pauseSchedule({ scheduleId });
        await answerOne(command, scheduleAnswer(schedule));
      }),
    );
}

function addResume(schedules: Command): void {
  printsIds(addServiceFlags(schedules.command("resume <id>")))
    .description("end the pause of a schedule; the times of the pause start no runs")
    .addHelpText("after", example("runnel schedules resume nightly"))
    .action((scheduleId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { schedule } = await client(ScheduleService).resumeSchedule({ scheduleId });
        await answerOne(command, scheduleAnswer(schedule));
      }),
    );
}

interface TriggerFlags extends ServiceFlags {
  readonly idempotencyKey: string;
}

function addTrigger(schedules: Command): void {
  printsIds(addServiceFlags(schedules.command("trigger <id>")))
    .description("start a run of a schedule now, also of a paused one; prints the run's id")
    .addHelpText("after", example("runnel schedules trigger nightly"))
    .option("--idempotency-key <key>", "makes the call repeatable: the same key returns the first answer", "")
    .action((scheduleId: string, { idempotencyKey, ...flags }: TriggerFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const response = await client(ScheduleService).triggerSchedule({ scheduleId, requestId: idempotencyKey });
        const { runId } = response;
        await outputOf(command).answer(answerJson(TriggerScheduleResponseSchema, response), () => runId, [runId]);
      }),
    );
}

function addDelete(schedules: Command): void {
  printsIds(addServiceFlags(schedules.command("delete <id>")))
    .description("delete a schedule; runs that it has started go on")
    .addHelpText("after", example("runnel schedules delete nightly"))
    .action((scheduleId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const response = await client(ScheduleService).deleteSchedule({ scheduleId });
        await outputOf(command).answer(
          answerJson(DeleteScheduleResponseSchema, response),
          () => `deleted ${scheduleId}`,
          [scheduleId],
        );
      }),
    );
}

function scheduleAnswer(message: Schedule | undefined): Answer<typeof ScheduleSchema> {
  return { schema: ScheduleSchema, message, id: ({ scheduleId }) => scheduleId, show: showSchedule };
}

function nextOf({ paused, nextTime }: Schedule): string {
  return paused ? "paused" : timeOf(nextTime);
}

function agentOf({ session }: Schedule): string {
  return session?.preset || session?.agent?.name || "";
}

function showSchedule(schedule: Schedule, paint: Paint): string {
  return sheet(paint, `schedule ${schedule.scheduleId}`, [
    ["cron", `${schedule.cron} ${schedule.timeZone || "UTC"}`],
    ["next", nextOf(schedule)],
    ["last", schedule.lastTime && timeOf(schedule.lastTime)],
    ["run", schedule.lastRunId],
    ["error", schedule.lastError],
    ["session", schedule.sessionId],
    ["agent", agentOf(schedule)],
    ["message", schedule.message?.message],
  ]);
}
