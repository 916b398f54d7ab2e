// A call of a tool in a run: through MCP, beside a remote tool of the caller at the same host. A run without calls is subtracted, which
// takes out the start of the run, and for MCP the list of the tools.

import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { RunService, TailRunResponseSchema } from "#gen/runnel/v1/run_service_pb.js";
import type { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import { percentile, sum } from "../harness/load.ts";
import { measure } from "../harness/meter.ts";

const callsOfRun = 20;
const parameters = JSON.stringify({ type: "object", properties: { turn: { type: "integer" } } });
const warmupRuns = 20;

export const toolCalls: Bench = {
  name: "tool-calls",
  title: "Tool calls of a run, 20 one after the other: through MCP, beside a remote tool over HTTP",
  notMeasured:
    "a network, TLS, the work of the tool, programs in the jail, large arguments and results, concurrent calls. Each call contains the turn of the model that asked for it, whose provider answers at once.",
  roundsMax: 3,
  async *measure(stage) {
    await using service = await stage.startService("tool-calls");
    await using host = await stage.startToolHost();
    using client = new GrpcClient(service.target);
    const meter = { servicePid: service.pid, postmasterPid: stage.home.postmasterPid() };
    const bench = { name: "bench", maxTurns: callsOfRun + 1 };
    // Both send the same status callbacks.
    const callback = { baseUrl: host.url };
    const remote = { name: "a remote tool", agent: { ...bench, tools: { remote: [{ name: "echo", parameters }] } } };
    const mcp = { name: "MCP", agent: { ...bench, tools: { mcp: [{ name: "host", url: `${host.url}/mcp` }] } } };
    const ways = [remote, mcp].map(({ name, agent }) => {
      const run = (calls: number) => runOnce(client, { agent, callback }, calls);
      return { name, time: (calls: number) => measure(meter, () => run(calls)) };
    });
    for (let index = 0; index < warmupRuns; index++) {
      for (const { time } of ways) {
        await time(callsOfRun);
      }
    }
    for (;;) {
      const rows = ways.map(({ name }) => ({ name, without: [] as Timed[], within: [] as Timed[] }));
      // One after the other, so that both meet the same moments of the machine.
      for (let index = 0; index < (stage.quick ? 10 : 30); index++) {
        for (const [at, { time }] of ways.entries()) {
          rows[at]?.without.push(await time(0));
          rows[at]?.within.push(await time(callsOfRun));
        }
      }
      const [first, ...others] = rows.map(describe);
      yield first === undefined ? [] : [first, ...others.map((other) => compare(other, first))];
    }
  },
};

interface Way {
  readonly name: string;
  readonly agent: MessageInitShape<typeof AgentSchema>;
}

type Timed = Awaited<ReturnType<typeof measure<RunTiming>>>;

interface Row {
  readonly name: string;
  readonly without: readonly Timed[];
  readonly within: readonly Timed[];
}

interface RunTiming {
  readonly ms: number;
  readonly isGood: boolean;
}

function describe({ name, without, within }: Row): Variant {
  const p50 = (timed: readonly Timed[]): number =>
    percentile(
      timed.map(({ result }) => result.ms),
      0.5,
    );
  const cpuUs = (process: "service" | "postgres"): number => {
    const [idle, busy] = [without, within].map((timed) => sum(timed.map(({ cost }) => cost[process]))) as [
      number,
      number,
    ];
    return (1_000_000 * (busy - idle)) / within.length / callsOfRun;
  };
  const bad = [...without, ...within].filter(({ result }) => !result.isGood).length;
  return {
    name,
    metrics: {
      runs: without.length + within.length,
      "run without calls p50, ms": p50(without),
      "run of 20 calls p50, ms": p50(within),
      "a call, ms": (p50(within) - p50(without)) / callsOfRun,
      "service CPU of a call, µs": cpuUs("service"),
      "Postgres CPU of a call, µs": cpuUs("postgres"),
    },
    faults: bad > 0 ? [`${bad} runs without the results of their calls`] : [],
  };
}

function compare(variant: Variant, other: Variant): Variant {
  const ratio = (metric: string): number =>
    (variant.metrics[metric] ?? Number.NaN) / (other.metrics[metric] ?? Number.NaN);
  return {
    ...variant,
    metrics: {
      ...variant.metrics,
      "a call, ratio to remote": ratio("a call, ms"),
      "service CPU of a call, ratio to remote": ratio("service CPU of a call, µs"),
    },
  };
}

async function runOnce(
  client: GrpcClient,
  session: { readonly agent: Way["agent"]; readonly callback: { readonly baseUrl: string } },
  calls: number,
): Promise<RunTiming> {
  const { sessionId } = await client.call(SessionService.method.createSession, session);
  const startedMs = performance.now();
  const message = `deltas=1 calls=${calls}`;
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  let answered = 0;
  let isDone = false;
  await client.stream(RunService.method.tailRun, { runId }, (bytes) => {
    for (const { payload } of fromBinary(TailRunResponseSchema, bytes).results) {
      answered += payload.case === "toolCallCompleted" && payload.value.result?.includes("hi") ? 1 : 0;
      isDone = payload.case === "runCompleted";
    }
  });
  return { ms: performance.now() - startedMs, isGood: isDone && answered === calls };
}
