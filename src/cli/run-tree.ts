// The tree of a run: the runs that its agents have called, in order, as a table.

import { type Run, Run_StateSchema } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Service } from "./connect.ts";
import type { Paint } from "./output.ts";
import { readPages } from "./pages.ts";
import { wordOf } from "./sheet.ts";
import { showTable } from "./table.ts";

/** Returns the run at the top of the tree, and all runs below it: each before those that it has called. */
export async function readTree({ client }: Pick<Service, "client">, id: string): Promise<Run[]> {
  const service = client(RunService);
  const { run } = await service.getRun({ runId: id });
  const rootRunId = run?.rootRunId || id;
  const top = rootRunId === id ? run : (await service.getRun({ runId: rootRunId })).run;
  const { items } = await readPages(async (request) => {
    const page = await service.listRuns({ rootRunId, ...request });
    return { items: page.runs, nextPageToken: page.nextPageToken };
  }, Number.MAX_SAFE_INTEGER);
  return inOrder(top === undefined ? items : [...items, top]);
}

/** Orders runs as a tree: each run before those that it has called, and these in the order of their start. */
function inOrder(runs: readonly Run[]): Run[] {
  const below = Map.groupBy(runs.toReversed(), ({ parentRunId }) => parentRunId);
  const withBelow = (run: Run): Run[] => [run, ...(below.get(run.runId) ?? []).flatMap(withBelow)];
  return (below.get("") ?? []).flatMap(withBelow);
}

/** Prints the runs of a tree, what each used, and the sum. */
export function showTree(tree: readonly Run[], paint: Paint): string {
  const rows = tree.map((run) => [
    `${"  ".repeat(run.depth)}${run.agentName || run.driver}`,
    ...[stateOf(run), String(run.turns), String(tokensOf(run)), usdOf(costOf(run)), run.runId],
  ]);
  const sum = (figure: (run: Run) => bigint): bigint => tree.reduce((total, run) => total + figure(run), 0n);
  const total = ["all", "", "", String(sum(tokensOf)), usdOf(sum(costOf)), `${tree.length} runs`];
  return showTable(["AGENT", "STATE", "TURNS", "TOKENS", "COST", "RUN"], [...rows, total], paint);
}

/** Returns the state of a run as a word. */
export function stateOf({ state }: Run): string {
  return wordOf(Run_StateSchema, state);
}

/** Returns the number of tokens that a run has used. */
export function tokensOf({ usage }: Run): bigint {
  return (usage?.promptTokens ?? 0n) + (usage?.completionTokens ?? 0n);
}

function costOf({ usage }: Run): bigint {
  return usage?.costMicroUsd ?? 0n;
}

/** Models without a known price cost nothing here, so that no sum claims to be exact. */
function usdOf(microUsd: bigint): string {
  return microUsd === 0n ? "–" : `$${(Number(microUsd) / 1e6).toFixed(4)}`;
}
