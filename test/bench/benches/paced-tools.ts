// Paced runs whose model calls tools between its words, beside the same words without a tool: what the calls cost the service,
// and whether everything still arrives.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBubblewrap } from "../../../src/agent/tools/bash/find-bubblewrap.ts";
import { systemClock } from "../../../src/platform/base/clock.ts";
import type { Bench, Variant } from "../bench.ts";
import { HttpClient } from "../clients/http-client.ts";
import { runLoad } from "../ground/load.ts";
import type { Stage } from "../ground/stage.ts";
import { Together } from "../ground/together.ts";
import { type CalledTool, callerPath, remoteToolName } from "../ground/tool-calls.ts";
import { agent, type Prompt, type RunOutcome, runOverSse } from "./agent-run.ts";
import { describeRuns, findFaults, type Measured, measureRuns, type Way } from "./measure-runs.ts";

const concurrency = 64;
const toolTurns = 3;
const deltas = 200;
const quickDeltas = 40;
const gapMs = 5;
/** Enough to open the connections and compile hot code. */
const warmupRuns = 32;
const limitMs = 12_000;
/** The number of files that grep searches. */
const files = 100;

export const pacedTools: Bench = {
  name: "paced-tools",
  title: `${concurrency} runs at a time over REST and SSE, ${deltas} deltas each (--quick: ${quickDeltas}), one per 5 ms, in ${toolTurns + 1} turns with calls between them`,
  notMeasured:
    "the CPU time of bash commands themselves, which no figure here includes; large files and trees (see `tools`); a slow remote host, a network, TLS; many work directories. The cost of a call includes its share of the turn that it adds.",
  // A round takes some ten seconds.
  roundsMax: 2,
  async *measure(stage) {
    await using closers = new AsyncDisposableStack();
    const workDir = await mkdtemp(join(tmpdir(), "runnel-bench-"));
    closers.defer(() => rm(workDir, { recursive: true, force: true }));
    await fillFolder(workDir);
    const cases = await openCases(stage, workDir, closers);
    for (;;) {
      yield await compareCases(cases);
    }
  },
};

interface Case extends Way {
  readonly prompt: Prompt;
}

type Cases = readonly [withoutTools: Case, ...others: Case[]];

async function fillFolder(workDir: string): Promise<void> {
  const lines = Array.from({ length: 200 }, (_, line) => `line ${line} of a file with needle${line % 10} in it`);
  for (let file = 0; file < files; file++) {
    await writeFile(join(workDir, `file-${file}.txt`), `${lines.join("\n")}\n`);
  }
}

/**
 * Opens each case in a service of its own, warmed up. All services send the status callbacks of their runs to the caller's
 * host.
 */
async function openCases(stage: Stage, workDir: string, closers: AsyncDisposableStack): Promise<Cases> {
  const { provider, home } = stage;
  const services = closers.use(new Together());
  const open = async (name: string, tools: readonly CalledTool[]): Promise<Case> => {
    const { url, pid } = services.use(await stage.startService(`paced-tools-${tools.length}`));
    const client = closers.use(new HttpClient(url));
    const pace = { deltas: stage.quick ? quickDeltas : deltas, gapMs };
    const prompt = tools.length === 0 ? pace : { ...pace, calls: { turns: toolTurns, tools } };
    const run = runOverSse(client, sessionWith(tools, { workDir, hostUrl: provider.url + callerPath }));
    await runLoad({ concurrency: warmupRuns, count: warmupRuns, limitMs }, () => run({ ...prompt, gapMs: 0 }));
    const meter = { servicePid: pid, providerPid: provider.pid, postmasterPid: home.postmasterPid() };
    return { name, run, meter, prompt };
  };
  const quickTools = ["read_file", "grep", remoteToolName] as const;
  const cases: Cases = [await open("without tools", []), await open("file tools and a remote one", quickTools)];
  return (await hasJail()) ? [...cases, await open("with bash in its jail too", [...quickTools, "bash"])] : cases;
}

async function hasJail(): Promise<boolean> {
  return !("problem" in (await findBubblewrap({ clock: systemClock, hidden: [], path: process.env.PATH ?? "" })));
}

function sessionWith(
  tools: readonly CalledTool[],
  place: { readonly workDir: string; readonly hostUrl: string },
): object {
  const builtin = tools.filter((name) => name !== remoteToolName);
  const remote = tools.includes(remoteToolName)
    ? [{ name: remoteToolName, description: "Looks up.", parameters: {} }]
    : [];
  return {
    work_dir: place.workDir,
    callback: { base_url: place.hostUrl },
    agent: { ...agent, tools: { builtin, remote } },
  };
}

async function compareCases([withoutTools, ...others]: Cases): Promise<readonly Variant[]> {
  const load = { concurrency, count: concurrency, limitMs };
  const base = await measureRuns(withoutTools, withoutTools.prompt, load);
  const variants = [describe(withoutTools, base, base)];
  for (const each of others) {
    variants.push(describe(each, await measureRuns(each, each.prompt, load), base));
  }
  return variants;
}

function describe({ name, prompt }: Case, measured: Measured, base: Measured): Variant {
  const calls = callsOf(prompt);
  const cpuMs = ({ cost, outcomes }: Measured): number => (1_000 * cost.service) / outcomes.length;
  const runs = describeRuns(prompt, measured);
  const baseRuns = describeRuns(prompt, base);
  const ratio = (metric: string): number => (runs[metric] ?? Number.NaN) / (baseRuns[metric] ?? Number.NaN);
  return {
    name,
    metrics: {
      ...runs,
      "tool calls per run": calls,
      "run p50, ratio to no tools": ratio("run p50, ms"),
      "run p99, ratio to no tools": ratio("run p99, ms"),
      "service CPU per run, ms": cpuMs(measured),
      "service CPU per run, ratio to no tools": cpuMs(measured) / cpuMs(base),
      "service CPU per tool call, ms": calls === 0 ? Number.NaN : (cpuMs(measured) - cpuMs(base)) / calls,
      "service peak RSS, MB": measured.peakMb,
    },
    faults: [...findFaults(measured.outcomes), ...findMissingCalls(measured.outcomes, calls)],
  };
}

function callsOf({ calls }: Prompt): number {
  return calls === undefined ? 0 : calls.turns * calls.tools.length;
}

function findMissingCalls(outcomes: readonly RunOutcome[], calls: number): string[] {
  const short = outcomes.filter(({ toolResults }) => toolResults !== calls).length;
  return short > 0 ? [`${short} runs with missing or failed tool calls`] : [];
}
