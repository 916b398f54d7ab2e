// Trees of more than a thousand child runs on two replicas, each on a core of its own, with fewer slots than parents that wait.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { runCommand } from "../../../scripts/run-command.ts";
import type { Bench, Variant } from "../bench.ts";
import { GrpcClient } from "../clients/grpc-client.ts";
import type { OpenHome } from "../harness/home.ts";
import { runLoad, sum } from "../harness/load.ts";
import { measure, memoryMb, peakMemoryMb } from "../harness/meter.ts";
import type { Service } from "../harness/service.ts";

type Agent = MessageInitShape<typeof AgentSchema>;

/** Fewer than the parents that wait in the deep tree: a parent that kept its slot would stop the tree. */
const slots = 16;
const aloneAtATime = 2 * slots;

export const trees: Bench = {
  name: "trees",
  title: `Trees of child runs on two replicas with a core and ${slots} slots each`,
  notMeasured: "models that take time, tools, large texts, Postgres and the provider on cores of their own.",
  roundsMax: 2,
  async *measure(stage) {
    await using first = await stage.startService("trees-1", { slots });
    await using second = await stage.startService("trees-2", { slots });
    const replicas = [first, second];
    for (const [core, { pid }] of replicas.entries()) {
      await runCommand("taskset", ["--all-tasks", "--cpu-list", "--pid", String(core), String(pid)]);
    }
    using client = new GrpcClient(first.target);
    const responses = stage.quick ? 10 : 100;
    const wide = stage.quick ? 3 : 6;
    const setting = { client, replicas, home: stage.home };
    await runAlone(setting, 100);
    for (;;) {
      yield [
        await runAlone(setting, responses * 10),
        await runTree(setting, {
          name: `one parent, ${responses} responses of 10 calls`,
          message: `calls=${responses} wide=10 levels=1 deltas=1`,
          agent: parentOf(worker, responses + 1),
          children: responses * 10,
        }),
        await runTree(setting, {
          name: `four levels of ${wide} calls`,
          message: `calls=1 wide=${wide} levels=4 deltas=1`,
          agent: parentOf(parentOf(parentOf(parentOf(worker)))),
          children: wide + wide ** 2 + wide ** 3 + wide ** 4,
        }),
      ];
    }
  },
};

const worker: Agent = { name: "bench" };

function parentOf(agent: Agent, maxTurns = 2): Agent {
  return { name: "bench", maxTurns, tools: { agents: [{ name: "below", description: "Works.", agent }] } };
}

interface Setting {
  readonly client: GrpcClient;
  readonly replicas: readonly Service[];
  readonly home: OpenHome;
}

interface Tree {
  readonly name: string;
  readonly message: string;
  readonly agent: Agent;
  readonly children: number;
}

async function runTree(setting: Setting, { name, message, agent, children }: Tree): Promise<Variant> {
  const { client, home } = setting;
  return await observe(setting, { name, runs: children + 1 }, async () => {
    const rootId = await runOnce(client, agent, message);
    const connection = await home.connect();
    try {
      const { rows } = await connection.query(
        "select count(*)::int as count from run where root_run_id = $1 and status = 'completed'",
        [rootId],
      );
      const completed = rows[0]?.count;
      return completed === children ? [] : [`${completed} of ${children} child runs were completed`];
    } finally {
      await connection.end();
    }
  });
}

async function runAlone(setting: Setting, runs: number): Promise<Variant> {
  return await observe(setting, { name: `${runs} runs without a parent`, runs }, async () => {
    const load = { concurrency: aloneAtATime, count: runs, limitMs: 120_000 };
    const ids = await runLoad(load, () => runOnce(setting.client, worker, "deltas=1"));
    return ids.length === runs ? [] : [`${ids.length} of ${runs} runs were completed`];
  });
}

/** Does the work, which returns what went wrong, and describes what it cost the replicas. */
async function observe(
  { replicas, home }: Setting,
  { name, runs }: { readonly name: string; readonly runs: number },
  work: () => Promise<readonly string[]>,
): Promise<Variant> {
  const memory = () => Math.max(...replicas.map(({ pid }) => memoryMb(pid)));
  const before = memory();
  const [first, second] = replicas.map(({ pid }) => ({ servicePid: pid }));
  const { result, cost } = await measure({ ...first, postmasterPid: home.postmasterPid() }, () =>
    measure({ ...second }, work),
  );
  return {
    name,
    metrics: {
      runs,
      "whole time, s": cost.wall,
      "runs/s": runs / cost.wall,
      "service CPU of a run, ms": (1_000 * sum([cost.service, result.cost.service])) / runs,
      "Postgres CPU of a run, ms": (1_000 * cost.postgres) / runs,
      "memory of a replica before, MB": before,
      "memory of a replica after, MB": memory(),
      "peak memory of a replica, MB": Math.max(...replicas.map(({ pid }) => peakMemoryMb(pid))),
    },
    faults: result.result,
  };
}

/** Returns the id of a completed run. */
async function runOnce(client: GrpcClient, agent: Agent, message: string): Promise<string> {
  const { sessionId } = await client.call(SessionService.method.createSession, { agent });
  const { runId } = await client.call(SessionService.method.sendMessage, { sessionId, message });
  await client.stream(RunService.method.tailRun, { runId }, () => {});
  const { run } = await client.call(RunService.method.getRun, { runId });
  if (run?.state !== Run_State.COMPLETED) {
    throw new Error(`a run of the bench ended as ${run?.state}: ${run?.error}`);
  }
  return runId;
}
