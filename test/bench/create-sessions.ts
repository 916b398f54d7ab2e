// The smallest durable request: one session, one transaction.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import type { Bench, Stage, Variant } from "./bench.ts";
import { GrpcClient } from "./grpc-client.ts";
import { HttpClient } from "./http-client.ts";
import { percentile, runLoad } from "./load.ts";
import { measure, peakMemoryMb } from "./meter.ts";
import type { Service } from "./service.ts";

const concurrency = 64;
const limitMs = 6_000;
const agent = { name: "bench", model: "gpt-4o-mini" };

export const createSessions: Bench = {
  name: "create",
  title: `Create sessions, ${concurrency} at a time`,
  notMeasured:
    "signed requests, idempotency keys, contention on one session id, a disk slower or faster than this one.",
  run: async (stage) => [await measureGrpc(stage), await measureRest(stage)],
};

async function measureGrpc(stage: Stage): Promise<Variant> {
  await using service = await stage.startService("create-grpc");
  using client = new GrpcClient(service.target);
  return await measureCreates("gRPC", stage, service, async () => {
    const { sessionId } = await client.call(SessionService.method.createSession, { agent });
    return sessionId !== "";
  });
}

async function measureRest(stage: Stage): Promise<Variant> {
  await using service = await stage.startService("create-rest");
  using client = new HttpClient(service.url);
  return await measureCreates("REST", stage, service, async () => {
    const { status } = await client.send("POST", "/v1/sessions", { agent });
    return status === 201;
  });
}

async function measureCreates(
  name: string,
  { home, quick }: Stage,
  { pid }: Service,
  create: () => Promise<boolean>,
): Promise<Variant> {
  const timed = async (): Promise<{ created: boolean; ms: number }> => {
    const startedMs = performance.now();
    return { created: await create(), ms: performance.now() - startedMs };
  };
  const load = { concurrency, count: quick ? 500 : 5_000, limitMs };
  await runLoad({ ...load, count: load.count / 5 }, timed);
  const meter = { servicePid: pid, postmasterPid: home.postmasterPid() };
  const { result: creates, cost } = await measure(meter, () => runLoad(load, timed));
  const refused = creates.filter(({ created }) => !created).length;
  const msEach = creates.map(({ ms }) => ms);
  return {
    name,
    metrics: {
      requests: creates.length,
      "requests/s": creates.length / cost.wall,
      "p50, ms": percentile(msEach, 0.5),
      "p99, ms": percentile(msEach, 0.99),
      "service CPU per request, ms": (1_000 * cost.service) / creates.length,
      "Postgres CPU per request, ms": (1_000 * cost.postgres) / creates.length,
      "client CPU per request, ms": (1_000 * cost.client) / creates.length,
      "service peak RSS, MB": peakMemoryMb(pid),
    },
    faults: refused > 0 ? [`${refused} creates were refused`] : [],
  };
}
