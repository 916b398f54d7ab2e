// The same runs over the documented stream and over OpenAI's API: what each surface costs the service.

import type { Bench, Variant } from "../bench.ts";
import { HttpClient } from "../clients/http-client.ts";
import { type Load, runLoad } from "../ground/load.ts";
import type { Stage } from "../ground/stage.ts";
import { Together } from "../ground/together.ts";
import { type AgentRun, type Prompt, runOverChat, runOverResponses, runOverSse } from "./agent-run.ts";
import { describeRuns, findFaults, type Measured, measureRuns, type Way } from "./measure-runs.ts";

const concurrency = 16;
/** The length of a long paragraph. */
const deltas = 200;
/** The rounds are short, so that other work on the machine meets all ways. Paced, most deltas are an event of their own. At once, most are merged, and the fixed cost of a run counts. */
const paces = [
  { name: "a delta per 5 ms", gapMs: 5, runs: 32 },
  { name: "at once", gapMs: 0, runs: 160 },
] as const;
/** Enough to open the connections and compile hot code. */
const warmupRuns = 96;
const quickWarmupRuns = 32;
const limitMs = 12_000;

export const surfaces: Bench = {
  name: "surfaces",
  title: `${concurrency} runs at a time, ${deltas} deltas each, over the documented stream and over OpenAI's API`,
  notMeasured:
    "a network, TLS, signed requests, tools, long histories, answers that are not streamed. Over SSE a run is three requests, over OpenAI's API one; a chat completion deletes its session as well. Deltas that wait for a write are merged, so a busy machine makes a delta cheaper: compare the pieces of text as well.",
  roundsMax: 5,
  async *measure(stage) {
    await using closers = new AsyncDisposableStack();
    const ways = await openWays(stage, closers);
    for (;;) {
      const variants: Variant[] = [];
      for (const { name, gapMs, runs } of paces) {
        const load = { concurrency, count: stage.quick ? concurrency : runs, limitMs };
        variants.push(...(await compareWays(ways, { deltas, gapMs }, load, name)));
      }
      yield variants;
    }
  },
};

type Ways = readonly [documented: Way, ...others: Way[]];

/** Opens each way in a service of its own, warmed up. */
async function openWays(stage: Stage, closers: AsyncDisposableStack): Promise<Ways> {
  const { provider, home } = stage;
  const services = closers.use(new Together());
  const open = async (name: string, over: (client: HttpClient) => AgentRun): Promise<Way> => {
    const { url, pid } = services.use(await stage.startService(`surfaces-${name}`));
    const run = over(closers.use(new HttpClient(url)));
    const count = stage.quick ? quickWarmupRuns : warmupRuns;
    for (const { gapMs } of paces) {
      await runLoad({ concurrency, count, limitMs }, () => run({ deltas, gapMs }));
    }
    return { name, run, meter: { servicePid: pid, providerPid: provider.pid, postmasterPid: home.postmasterPid() } };
  };
  return [
    await open("SSE", (client) => runOverSse(client)),
    await open("Responses", runOverResponses),
    await open("Chat Completions", runOverChat),
  ];
}

/** Measures all ways one after the other, so that each is compared with the documented stream at the same moment. */
async function compareWays(
  [documented, ...others]: Ways,
  prompt: Prompt,
  load: Load,
  pace: string,
): Promise<readonly Variant[]> {
  const base = await measureRuns(documented, prompt, load);
  const variants = [describe(`${pace}, ${documented.name}`, prompt, base, base)];
  for (const way of others) {
    variants.push(describe(`${pace}, ${way.name}`, prompt, await measureRuns(way, prompt, load), base));
  }
  return variants;
}

function describe(name: string, prompt: Prompt, measured: Measured, base: Measured): Variant {
  const cpuMs = ({ cost, outcomes }: Measured): number => (1_000 * cost.service) / outcomes.length;
  return {
    name,
    metrics: {
      ...describeRuns(prompt, measured),
      "service CPU per run, ms": cpuMs(measured),
      "service CPU per delta, µs": (1_000 * cpuMs(measured)) / prompt.deltas,
      "service CPU, ratio to SSE": cpuMs(measured) / cpuMs(base),
      "Postgres CPU, ratio to SSE":
        measured.cost.postgres / measured.outcomes.length / (base.cost.postgres / base.outcomes.length),
      "service peak RSS, MB": measured.peakMb,
    },
    faults: findFaults(measured.outcomes),
  };
}
