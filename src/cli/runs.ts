// `runnel runs`: lists the runs of a client, prints the tree of one and its calls of models, follows it, cancels, and writes one as a file.

import { create } from "@bufbuild/protobuf";
import { type Command, Option } from "commander";
import { ModelCallSchema } from "#gen/runnel/v1/model_call_pb.js";
import { type Run, type Run_State, Run_StateSchema, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { RunMatchSchema, RunService } from "#gen/runnel/v1/run_service_pb.js";
import { enumShape } from "../platform/base/json/shape.ts";
import { type ExportedRun, type ExportFormat, exportFormats, exportRun } from "../platform/run-view/export.ts";
import { addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { answerItems } from "./list-view.ts";
import { NewFile } from "./new-file.ts";
import { outputOf, type Paint, printsIds } from "./output.ts";
import { readPages } from "./pages.ts";
import { readTree, showTree, stateOf, tokensOf } from "./run-tree.ts";
import { sheet, timeOf, wordsOf } from "./sheet.ts";
import { addServiceFlags, type ServiceFlags } from "./target.ts";
import { addWatchFlag } from "./watch-list.ts";
import { watchTree } from "./watch-tree.ts";

interface RunListFlags extends ListFlags {
  readonly session: string;
  readonly agent: string;
  readonly state?: string;
  readonly search: string;
}

const saidCharsMax = 60;
const foundCharsMax = 120;
const runId = "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d";

/** Defines `runs`. */
export function defineRuns(runs: Command): void {
  addRunList(runs);
  addRun(runs);
  addTree(runs);
  addWatch(runs);
  addCancel(runs);
  addCalls(runs);
  addExport(runs);
}

function addRunList(runs: Command): void {
  addWatchFlag(addLimitFlag(addServiceFlags(runs.command("list"))))
    .description("list runs, newest first")
    .addHelpText("after", example("runnel runs list --state failed"))
    .option("--session <id>", "only of this session", "")
    .option("--agent <name>", "only of the agent of this name", "")
    .addOption(
      new Option("--state <state>", "only runs in this state").choices(wordsOf(Run_StateSchema)).conflicts("search"),
    )
    .option("--search <text>", "only runs with these words in their messages, results or errors", "")
    .action(({ session: sessionId, agent: agentName, state: word = "", ...flags }: RunListFlags, command: Command) => {
      if (flags.search !== "") {
        return searchRuns(command, flags, { query: flags.search, sessionId, agentName });
      }
      const state: Run_State | undefined = enumShape(Run_StateSchema).numbers.get(word);
      const filter = { sessionId, agentName, states: state === undefined ? [] : [state] };
      return listAll(command, flags, {
        name: "runs",
        schema: RunSchema,
        id: ({ runId }) => runId,
        read: async ({ client }, request) => {
          const page = await client(RunService).listRuns({ ...filter, ...request });
          return { items: page.runs, nextPageToken: page.nextPageToken };
        },
        columns: ["RUN", "STATE", "AGENT", "SESSION", "CREATED", "SAID"],
        row: (run, cut) => [
          ...[run.runId, stateOf(run), run.agentName, run.sessionId, timeOf(run.createTime)],
          cut(run.error || run.output, saidCharsMax),
        ],
        wide: {
          ENDED: ({ endTime }) => timeOf(endTime),
          MODEL: ({ model }) => model || "–",
          TURNS: ({ turns }) => String(turns),
          TOKENS: (run) => String(tokensOf(run)),
          PARENT: ({ parentRunId }) => parentRunId || "–",
          ASKED: ({ inputExcerpt }) => inputExcerpt,
        },
      });
    });
}

/** Prints the runs that have the words, each with the part of its text around them. */
async function searchRuns(
  command: Command,
  flags: ListFlags,
  asked: { readonly query: string; readonly sessionId: string; readonly agentName: string },
): Promise<void> {
  await listAll(command, flags, {
    name: "matches",
    schema: RunMatchSchema,
    id: ({ run }) => run?.runId ?? "",
    read: async ({ client }, request) => {
      const page = await client(RunService).searchRuns({ ...asked, ...request });
      return { items: page.matches, nextPageToken: page.nextPageToken };
    },
    columns: ["RUN", "STATE", "AGENT", "CREATED", "FOUND"],
    row: ({ run = create(RunSchema), snippet }, cut) => [
      run.runId,
      stateOf(run),
      run.agentName,
      timeOf(run.createTime),
      cut(snippet.map(({ text }) => text).join(""), foundCharsMax),
    ],
  });
}

function addRun(runs: Command): void {
  printsIds(addServiceFlags(runs.command("show <id>")))
    .description("show a run: its state, what it used, and what it said")
    .addHelpText("after", example(`runnel runs show ${runId}`))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { run } = await client(RunService).getRun({ runId: id });
        await answerOne(command, { schema: RunSchema, message: run, id: ({ runId }) => runId, show: showRun });
      }),
    );
}

function addTree(runs: Command): void {
  printsIds(addServiceFlags(runs.command("tree <id>")))
    .description("print the tree of a run: the runs that its agents have called, and what all of them used")
    .addHelpText("after", example(`runnel runs tree ${runId}`))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async (service) => {
        const tree = await readTree(service, id);
        const runs = { name: "runs", schema: RunSchema, id: ({ runId }: Run) => runId };
        await answerItems(outputOf(command), runs, tree, (paint) => showTree(tree, paint));
      }),
    );
}

function addWatch(runs: Command): void {
  addServiceFlags(runs.command("watch <id>"))
    .description("follow a run and all runs that its agents call, to the end of all")
    .addHelpText("after", example(`runnel runs watch ${runId}`))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, (service) => watchTree(service, id, outputOf(command))),
    );
}

function addCancel(runs: Command): void {
  printsIds(addServiceFlags(runs.command("cancel <id>")))
    .description("cancel a run, and the runs that its agents have called")
    .addHelpText("after", example(`runnel runs cancel ${runId}`))
    .action((id: string, flags: ServiceFlags, command: Command) =>
      withService(flags, async ({ client }) => {
        const { run } = await client(RunService).cancelRun({ runId: id });
        await answerOne(command, { schema: RunSchema, message: run, id: ({ runId }) => runId, show: showRun });
      }),
    );
}

function addCalls(runs: Command): void {
  addLimitFlag(addServiceFlags(runs.command("calls <id>")))
    .description("list the calls of models of a run, oldest first; with --json what was sent and answered")
    .addHelpText("after", example(`runnel runs calls ${runId} -o jsonl`))
    .action((id: string, flags: ListFlags, command: Command) =>
      listAll(command, flags, {
        name: "model_calls",
        schema: ModelCallSchema,
        id: ({ callId }) => callId,
        read: async ({ client }, request) => {
          const page = await client(RunService).listModelCalls({ runId: id, ...request });
          return { items: page.modelCalls, nextPageToken: page.nextPageToken };
        },
        columns: ["CALL", "TURN", "MODEL", "STATUS", "MS", "SENT", "READ", "ERROR"],
        row: (call, cut) => [
          ...[call.callId, String(call.turn), `${call.provider}:${call.model}`, String(call.status || "–")],
          ...[String(call.durationMs), `${call.requestSizeBytes} B`, `${call.answerSizeBytes} B`],
          cut(call.error, saidCharsMax),
        ],
      }),
    );
}

interface ExportFlags extends ServiceFlags {
  readonly format: ExportFormat;
  readonly out?: string;
  readonly force?: true;
}

function addExport(runs: Command): void {
  addServiceFlags(runs.command("export <id>"))
    .description("write a run as a file: its input, texts, tool calls and numbers")
    .addHelpText("after", example(`runnel runs export ${runId} --format html --out run.html`))
    .addOption(
      new Option("--format <format>", "Markdown, a page without scripts, or JSON").choices(exportFormats).default("md"),
    )
    .option("--out <file>", "file to write; unset means standard output")
    .option("--force", "overwrite an existing file")
    .action(async (id: string, { format, out, force, ...flags }: ExportFlags, command: Command) => {
      const output = outputOf(command);
      await using file = out === undefined ? undefined : await NewFile.open(out, { force: force === true });
      const { text } = exportRun(format, await withService(flags, (service) => readExported(service, id)));
      if (file === undefined) {
        return await output.answer({ run_id: id, format, text }, () => text.replace(/\n$/, ""));
      }
      await file.write(text);
      await file.keep();
      await output.answer({ run_id: id, format, file: file.path }, () => `wrote ${file.path}`);
    });
}

/** Reads a run with the entries that its log has by now. */
async function readExported({ runs }: Service, runId: string): Promise<ExportedRun> {
  const { run } = await runs.getRun({ runId });
  const { messages, agent } = await runs.getRunInput({ runId });
  const { items: entries } = await readPages(async (request) => {
    const page = await runs.listRunResults({ runId, ...request });
    return { items: page.results, nextPageToken: page.nextPageToken };
  }, Number.MAX_SAFE_INTEGER);
  return { run: run ?? create(RunSchema, { runId }), messages, agent, entries };
}

function showRun(run: Run, paint: Paint): string {
  const { usage } = run;
  return sheet(paint, `run ${run.runId}  ${stateOf(run)}`, [
    ["session", run.sessionId],
    ["agent", run.agentName],
    ["model", run.model],
    ["created", timeOf(run.createTime)],
    ["ended", run.endTime && timeOf(run.endTime)],
    ["waits", run.waitReason],
    ["parent", run.parentRunId],
    ["used", usage && `${usage.promptTokens} input and ${usage.completionTokens} output tokens, ${run.turns} turns`],
    ["error", run.error],
    ["input", run.inputExcerpt],
    ["output", run.output],
  ]);
}
