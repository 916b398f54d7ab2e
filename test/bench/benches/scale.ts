// The time of each route and of each background pass in a small database and in one with a thousand times the rows.

import { openConnections } from "../../../src/platform/database/database.ts";
import type { Bench, Variant } from "../bench.ts";
import { growHome } from "../harness/grown-home.ts";
import type { OpenHome } from "../harness/home.ts";
import { percentile } from "../harness/load.ts";
import type { Stage } from "../harness/stage.ts";
import { Caller } from "./scale/caller.ts";
import { passes } from "./scale/passes.ts";
import { measureQuiet } from "./scale/quiet.ts";
import { routes } from "./scale/routes.ts";

const few = 1_000;
const many = 1_000_000;
const manyQuick = 100_000;
/** Before the measurement: compiles the code and the plans. */
const warmupRounds = 5;
const measuredRounds = 31;
/** A slow row is measured less often: five calls show that it is slow. */
const slowMs = 200;
const callsMin = 5;

export const scale: Bench = {
  name: "scale",
  title:
    "Each route and each background pass, one call at a time, with few sessions and runs of one client and with many",
  notMeasured:
    "calls that ask no table (versions, limits, settings, models, MCP servers, parsing); calls of a run's worker or host, which look up by " +
    "keys (accept, report, host API); signed JobSpecs and imports; what a pass costs that finds work; rows outside Postgres' memory; many clients.",
  roundsMax: 1,
  async *measure(stage) {
    const rows = stage.quick ? manyQuick : many;
    await using small = await openGrown(stage, few);
    await using large = await openGrown(stage, rows);
    for (;;) {
      const found = await measureRows([rowsOf(small), rowsOf(large)]);
      yield [...found.map((row) => describe(row, rows)), ...(await measureQuiet([small, large], [few, rows]))];
    }
  },
};

/** A service beside its grown database. */
export interface Grown extends AsyncDisposable {
  readonly home: OpenHome;
  readonly url: string;
  readonly caller: Caller;
  readonly db: ReturnType<typeof openConnections>["db"];
}

async function openGrown(stage: Stage, rows: number): Promise<Grown> {
  await using opened = new AsyncDisposableStack();
  const home = opened.use(await stage.openHome());
  const options = { home, keepsRows: true };
  // The first service makes the tables.
  await (await stage.startService("scale-first", options))[Symbol.asyncDispose]();
  await growHome(home, rows);
  const { url } = opened.use(await stage.startService(`scale-${rows}`, options));
  const connections = openConnections(home.login, { poolSize: 2, onConnectionError: () => {} });
  opened.defer(() => connections.close());
  const caller = opened.use(new Caller(url));
  const kept = opened.move();
  return { home, url, caller, db: connections.db, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

type Rows = ReadonlyMap<string, () => Promise<unknown>>;

function rowsOf({ caller, db }: Grown): Rows {
  return new Map([
    ...routes.map((route) => [route.name, () => caller.call(route)] as const),
    ...passes.map(([name, work]) => [name, () => work(db)] as const),
  ]);
}

interface Timed {
  readonly name: string;
  readonly few: number[];
  readonly many: number[];
  readonly faults: string[];
}

/** Calls the two alternately: a ratio compares moments that are milliseconds apart. */
async function measureRows([small, large]: readonly [Rows, Rows]): Promise<readonly Timed[]> {
  const timed = [...small.keys()].map((name): Timed => ({ name, few: [], many: [], faults: [] }));
  for (let round = -warmupRounds; round < measuredRounds; round++) {
    for (const row of timed) {
      if (row.many.length >= callsMin && percentile(row.many, 0.5) > slowMs) {
        continue;
      }
      try {
        const [fewMs, manyMs] = [await timeOf(small.get(row.name)), await timeOf(large.get(row.name))];
        if (round >= 0) {
          row.few.push(fewMs);
          row.many.push(manyMs);
        }
      } catch (error) {
        row.faults.push(String(error));
      }
    }
  }
  return timed;
}

function describe({ name, few: ofFew, many: ofMany, faults }: Timed, rows: number): Variant {
  const [fewMs, manyMs] = [percentile(ofFew, 0.5), percentile(ofMany, 0.5)];
  const metrics = { [`p50 at ${few}, ms`]: fewMs, [`p50 at ${rows}, ms`]: manyMs, ratio: manyMs / fewMs };
  return { name, metrics, faults: [...new Set(faults)] };
}

async function timeOf(call: (() => Promise<unknown>) | undefined): Promise<number> {
  const startedMs = performance.now();
  await call?.();
  return performance.now() - startedMs;
}
