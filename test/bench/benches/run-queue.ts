// A replica's claim of queued runs, by the depth of the queue and the number of claiming replicas.

import { insertReplica } from "../../../src/engine/storage/replica.ts";
import { claimRuns } from "../../../src/engine/storage/run-claim.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import { type Db, openConnections } from "../../../src/platform/database/database.ts";
import { migrate } from "../../../src/platform/database/migrate.ts";
import type { Bench, Variant } from "../bench.ts";
import type { OpenHome } from "../harness/home.ts";
import { percentile, runLoad } from "../harness/load.ts";

const clients = 1_000;
const depths = [10_000, 100_000] as const;
/** Longer than the bench. */
const leaseMs = 600_000;
const runsPerClaim = 10;
const warmupClaims = 20;

export const runQueue: Bench = {
  name: "queue",
  title: `Claims of ${runsPerClaim} runs among those of ${clients.toLocaleString("en-US")} clients, in this process`,
  notMeasured: "the work on the claimed runs, new runs meanwhile, a queue of one driver among many, a slower disk.",
  roundsMax: 3,
  async *measure(stage) {
    await using home = await stage.openHome();
    const connections = openConnections(home.login, { poolSize: 4, onConnectionError: () => {} });
    await using _closing = { [Symbol.asyncDispose]: () => connections.close() };
    const { db } = connections;
    await migrate(connections);
    for (;;) {
      const variants: Variant[] = [];
      for (const depth of depths) {
        await fill(home, depth);
        for (const claimers of [1, 4]) {
          variants.push(await measureClaims(db, { depth, claimers, count: stage.quick ? 40 : 200 }));
        }
      }
      yield variants;
    }
  },
};

interface Claims {
  readonly depth: number;
  readonly claimers: number;
  readonly count: number;
}

async function measureClaims(db: Db, { depth, claimers, count }: Claims): Promise<Variant> {
  const owner = newUuid(Date.now());
  await insertReplica(db, { id: owner, leaseMs });
  let afterClient = "";
  let claimed = 0;
  const claim = async (): Promise<number> => {
    const startedMs = performance.now();
    const runs = await claimRuns(db, { owner, limit: runsPerClaim, afterClient });
    afterClient = runs.at(-1)?.client ?? "";
    claimed += runs.length;
    return performance.now() - startedMs;
  };
  await runLoad({ concurrency: claimers, count: warmupClaims, limitMs: 10_000 }, claim);
  const claimMs = await runLoad({ concurrency: claimers, count, limitMs: 20_000 }, claim);
  const expected = (claimMs.length + warmupClaims) * runsPerClaim;
  return {
    name: `${depth.toLocaleString("en-US")} queued, ${claimers} claiming`,
    metrics: {
      claims: claimMs.length,
      "claim p50, ms": percentile(claimMs, 0.5),
      "claim p99, ms": percentile(claimMs, 0.99),
    },
    faults: claimed === expected ? [] : [`${claimed} of ${expected} runs were claimed`],
  };
}

/** Replaces the queue by one of this depth. Each client has as many runs as any other. */
async function fill(home: OpenHome, depth: number): Promise<void> {
  const connection = await home.connect();
  try {
    await connection.query("truncate run, session cascade");
    await connection.query(insertQueued, [depth, clients]);
    await connection.query("vacuum analyze run, session");
  } finally {
    await connection.end();
  }
}

const insertQueued = `
  with made as materialized (
    select uuidv7() as id, uuidv7() as run_id, number, 'client-' || number % $2::int as client
    from generate_series(1, $1::int) as number
  ), sessions as (
    insert into session (id, client, name, agent, latest_run_id)
    select id, client, id::text, '', run_id from made
  )
  insert into run (id, client, session, driver, input, status, epoch, turn, deadline, wake_at)
  select run_id, client, id, 'llm-loop', '', 'queued', 0, 0, now() + interval '1 day', now() - interval '1 s' + number * interval '1 us'
  from made`;
