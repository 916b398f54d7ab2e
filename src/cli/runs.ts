// `runnel runs`: lists the runs of a client, prints the tree of one, and cancels.

import { type Command, Option } from "commander";
import { type Run, type Run_State, Run_StateSchema, RunSchema } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { enumShape } from "../platform/base/json/shape.ts";
import { addLimitFlag, answerOne, type ListFlags, listAll } from "./answer.ts";
import { answerJson } from "./answer-json.ts";
import { addUrlFlag, type Service, withService } from "./connect.ts";
import { example } from "./example.ts";
import { outputOf, type Paint } from "./output.ts";
import { readPages } from "./pages.ts";
import { sheet, timeOf, wordOf } from "./sheet.ts";
import { cut } from "./shorten.ts";
import { showTable } from "./table.ts";

interface RunListFlags extends ListFlags {
  readonly session: string;
  readonly agent: string;
  readonly state?: string;
}

interface UrlFlag {
  readonly url: string;
}

const runId = "0198c5f2-7a3b-7c41-9d52-6e8f0a1b2c3d";

/** Defines `runs`. */
export function defineRuns(runs: Command): void {
  addRunList(runs);
  addTree(runs);
  addCancel(runs);
}

function addRunList(runs: Command): void {
  addLimitFlag(addUrlFlag(runs.command("list")))
    .description("list runs, newest first")
    .addHelpText("after", example("runnel runs list --state failed"))
    .option("--session <id>", "only of this session", "")
    .option("--agent <name>", "only of the agent of this name", "")
    .addOption(new Option("--state <state>", "only runs in this state").choices(stateWords()))
    .action(({ session: sessionId, agent: agentName, state: word = "", ...flags }: RunListFlags, command: Command) => {
      const state: Run_State | undefined = enumShape(Run_StateSchema).numbers.get(word);
      const filter = { sessionId, agentName, states: state === undefined ? [] : [state] };
      return listAll(command, flags, {
        name: "runs",
        schema: RunSchema,
        read: async ({ client }, request) => {
          const page = await client(RunService).listRuns({ ...filter, ...request });
          return { items: page.runs, nextPageToken: page.nextPageToken };
        },
        columns: ["RUN", "STATE", "AGENT", "SESSION", "CREATED", "SAID"],
        row: (run) => [run.runId, stateOf(run), run.agentName, run.sessionId, timeOf(run.createTime), saidBy(run)],
      });
    });
}

function addTree(runs: Command): void {
  addUrlFlag(runs.command("tree <id>"))
    .description("print the tree of a run: the runs that its agents have called, and what all of them used")
    .addHelpText("after", example(`runnel runs tree ${runId}`))
    .action((id: string, { url }: UrlFlag, command: Command) =>
      withService(url, async (service) => {
        const tree = inOrder(await readTree(service, id));
        await outputOf(command).answer({ runs: tree.map((run) => answerJson(RunSchema, run)) }, (paint) =>
          showTree(tree, paint),
        );
      }),
    );
}

function addCancel(runs: Command): void {
  addUrlFlag(runs.command("cancel <id>"))
    .description("cancel a run, and the runs that its agents have called")
    .addHelpText("after", example(`runnel runs cancel ${runId}`))
    .action((id: string, { url }: UrlFlag, command: Command) =>
      withService(url, async ({ client }) => {
        const { run } = await client(RunService).cancelRun({ runId: id });
        await answerOne(command, { name: "run", schema: RunSchema, message: run, show: showRun });
      }),
    );
}

/** Returns the run at the top of the tree, and all runs below it. */
async function readTree({ client }: Service, id: string): Promise<Run[]> {
  const service = client(RunService);
  const { run } = await service.getRun({ runId: id });
  const rootRunId = run?.rootRunId || id;
  const top = rootRunId === id ? run : (await service.getRun({ runId: rootRunId })).run;
  const { items } = await readPages(async (request) => {
    const page = await service.listRuns({ rootRunId, ...request });
    return { items: page.runs, nextPageToken: page.nextPageToken };
  }, Number.MAX_SAFE_INTEGER);
  return top === undefined ? items : [...items, top];
}

/** Orders runs as a tree: each run before those that it has called, and these in the order of their start. */
function inOrder(runs: readonly Run[]): Run[] {
  const below = Map.groupBy(runs.toReversed(), ({ parentRunId }) => parentRunId);
  const withBelow = (run: Run): Run[] => [run, ...(below.get(run.runId) ?? []).flatMap(withBelow)];
  return (below.get("") ?? []).flatMap(withBelow);
}

function showTree(tree: readonly Run[], paint: Paint): string {
  const rows = tree.map((run) => [
    `${"  ".repeat(run.depth)}${run.agentName || run.driver}`,
    ...[stateOf(run), String(run.turns), String(tokensOf(run)), usdOf(costOf(run)), run.runId],
  ]);
  const sum = (figure: (run: Run) => bigint): bigint => tree.reduce((total, run) => total + figure(run), 0n);
  const total = ["all", "", "", String(sum(tokensOf)), usdOf(sum(costOf)), `${tree.length} runs`];
  return showTable(["AGENT", "STATE", "TURNS", "TOKENS", "COST", "RUN"], [...rows, total], paint);
}

function showRun(run: Run, paint: Paint): string {
  return sheet(paint, `run ${run.runId}  ${stateOf(run)}`, [
    ["session", run.sessionId],
    ["agent", run.agentName],
    ["error", run.error],
  ]);
}

function stateOf({ state }: Run): string {
  return wordOf(Run_StateSchema, state);
}

const saidCharsMax = 60;

function saidBy({ output, error }: Run): string {
  return cut(error === "" ? output : error, saidCharsMax);
}

function tokensOf({ usage }: Run): bigint {
  return (usage?.promptTokens ?? 0n) + (usage?.completionTokens ?? 0n);
}

function costOf({ usage }: Run): bigint {
  return usage?.costMicroUsd ?? 0n;
}

/** Models without a known price cost nothing here, so that no sum claims to be exact. */
function usdOf(microUsd: bigint): string {
  return microUsd === 0n ? "–" : `$${(Number(microUsd) / 1e6).toFixed(4)}`;
}

function stateWords(): string[] {
  return [...enumShape(Run_StateSchema).texts].filter(([number]) => number !== 0).map(([, text]) => text);
}
