// `runnel runners`: runners, their bindings, runs, and the audit of the runs, over the public API.

import type { Command } from "commander";
import { type Binding, BindingSchema } from "#gen/runnel/runner/v1/binding_pb.js";
import { AgentEventSchema } from "#gen/runnel/runner/v1/event_pb.js";
import { type Runner, RunnerSchema } from "#gen/runnel/runner/v1/runner_pb.js";
import {
  AuditEntrySchema,
  DeleteBindingResponseSchema,
  ResultVerdictSchema,
  RunnerService,
} from "#gen/runnel/runner/v1/runner_service_pb.js";
import { type Run, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { addLimitFlag, answerOne, type ListFlags, listAll } from "../answer.ts";
import { answerJson } from "../answer-json.ts";
import { withService } from "../connect.ts";
import { example } from "../example.ts";
import { answerItems } from "../list-view.ts";
import { outputOf, printsIds } from "../output.ts";
import { showRun } from "../run.ts";
import { addServiceFlags, type ServiceFlags } from "../target.ts";
import { readMessages, readOneMessage } from "./read-file.ts";
import { readRunnerId } from "./runner-id.ts";
import {
  auditColumns,
  auditRow,
  bindingColumns,
  bindingRow,
  runnerColumns,
  runnerRow,
  showRunner,
  verdictColumns,
  verdictRow,
} from "./show.ts";

interface StartFlags extends ServiceFlags {
  readonly idempotencyKey: string;
  readonly follow?: true;
}

/** Defines `runners`. */
export function defineRunners(runners: Command): void {
  addList(runners);
  addShow(runners);
  addBindings(runners);
  addBind(runners);
  addUnbind(runners);
  addStart(runners);
  addVerdicts(runners);
  addAudit(runners);
}

function addList(runners: Command): void {
  addLimitFlag(addServiceFlags(runners.command("list")))
    .description("list your runners by id, and whether each can take a run now")
    .addHelpText("after", example("runnel runners list"))
    .action((flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "runners",
        schema: RunnerSchema,
        id: ({ runnerId }) => runnerId,
        read: async ({ client }, request) => {
          const page = await client(RunnerService).listRunners(request);
          return { items: page.runners, nextPageToken: page.nextPageToken };
        },
        columns: runnerColumns,
        row: runnerRow,
      }),
    );
}

function addShow(runners: Command): void {
  printsIds(addServiceFlags(runners.command("show")))
    .argument("<runner>", "plugin:author/name/runner", readRunnerId)
    .description("show a runner and its manifest")
    .addHelpText("after", example("runnel runners show plugin:acme/helper/default"))
    .action((parts: ReturnType<typeof readRunnerId>, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { runner } = await client(RunnerService).getRunner(parts);
        await answerOne(command, {
          ...{ schema: RunnerSchema, message: runner, id: (each: Runner) => each.runnerId },
          show: showRunner,
        });
      }),
    );
}

function addBindings(runners: Command): void {
  addLimitFlag(addServiceFlags(runners.command("bindings")))
    .description("list the bindings of events to runners")
    .addHelpText("after", example("runnel runners bindings"))
    .action((flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "bindings",
        schema: BindingSchema,
        id: ({ bindingId }) => bindingId,
        read: async ({ client }, request) => {
          const page = await client(RunnerService).listBindings(request);
          return { items: page.bindings, nextPageToken: page.nextPageToken };
        },
        columns: bindingColumns,
        row: bindingRow,
      }),
    );
}

function addBind(runners: Command): void {
  printsIds(addServiceFlags(runners.command("bind <file>")))
    .description("create or replace the bindings in a JSON or YAML file, or - for standard input")
    .addHelpText("after", example("runnel runners bind bindings.yaml"))
    .action(async (path: string, flags: ServiceFlags, command: Command) => {
      const wanted = await readMessages(BindingSchema, path);
      await withService(flags, async ({ client }) => {
        const put: Binding[] = [];
        for (const binding of wanted) {
          put.push((await client(RunnerService).putBinding({ binding })).binding ?? binding);
        }
        const bindings = { name: "bindings", schema: BindingSchema, id: (each: Binding) => each.bindingId };
        await answerItems(outputOf(command), bindings, put, () =>
          put.map(({ bindingId, runnerId }) => `bound ${bindingId} to ${runnerId}`).join("\n"),
        );
      });
    });
}

function addUnbind(runners: Command): void {
  printsIds(addServiceFlags(runners.command("unbind <binding>")))
    .description("delete a binding; started runs continue")
    .addHelpText("after", example("runnel runners unbind support"))
    .action((bindingId: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const response = await client(RunnerService).deleteBinding({ bindingId });
        const value = answerJson(DeleteBindingResponseSchema, response);
        await outputOf(command).answer(value, () => `deleted ${bindingId}`, [bindingId]);
      }),
    );
}

function addStart(runners: Command): void {
  addServiceFlags(runners.command("start <file>"))
    .description("start a run for the event in a JSON or YAML file, or - for standard input; prints the run's id")
    .addHelpText("after", example("runnel runners start event.json --follow"))
    .option("--idempotency-key <key>", "makes the call repeatable: the same key returns the first answer", "")
    .option("--follow", "follow the run to its end, as `runnel tail` does")
    .action(async (path: string, { idempotencyKey, follow, ...flags }: StartFlags, command: Command) => {
      const event = await readOneMessage(AgentEventSchema, path);
      await withService(flags, async (service) => {
        const { run } = await service.client(RunnerService).startRun({ requestId: idempotencyKey, event });
        const runId = run?.runId ?? "";
        if (follow !== true) {
          await answerOne(command, {
            ...{ schema: RunSchema, message: run, id: (each: Run) => each.runId },
            show: () => runId,
          });
          return;
        }
        const output = outputOf(command);
        output.note(`run ${runId}`, { note: "started", run_id: runId });
        await showRun(service, { runId, after: 0n, flags, output });
      });
    });
}

function addVerdicts(runners: Command): void {
  addLimitFlag(addServiceFlags(runners.command("verdicts <run>")))
    .description("list the results of a run that the service changed or refused, and why")
    .addHelpText("after", example("runnel runners verdicts 0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d"))
    .action((runId: string, flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "verdicts",
        schema: ResultVerdictSchema,
        id: ({ sequence }) => String(sequence),
        read: async ({ client }, request) => {
          const page = await client(RunnerService).listResultVerdicts({ runId, ...request });
          return { items: page.verdicts, nextPageToken: page.nextPageToken };
        },
        columns: verdictColumns,
        row: verdictRow,
      }),
    );
}

function addAudit(runners: Command): void {
  addLimitFlag(addServiceFlags(runners.command("audit")))
    .description("list the calls of runs to their host and whether they were allowed, newest first")
    .addHelpText("after", example("runnel runners audit --limit 20"))
    .option("--run <id>", "only of this run", "")
    .action(({ run: runId, ...flags }: ListFlags & { run: string }, command: Command) =>
      listAll(command, flags, {
        name: "entries",
        schema: AuditEntrySchema,
        id: ({ entryId }) => entryId,
        read: async ({ client }, request) => {
          const page = await client(RunnerService).listAuditEntries({ runId, ...request });
          return { items: page.entries, nextPageToken: page.nextPageToken };
        },
        columns: auditColumns,
        row: auditRow,
      }),
    );
}
