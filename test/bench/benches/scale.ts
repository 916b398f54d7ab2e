// The time of each route in a small database and in one with a thousand times the rows.

import type { Bench, Variant } from "../bench.ts";
import { HttpClient } from "../clients/http-client.ts";
import { growHome } from "../harness/grown-home.ts";
import { percentile } from "../harness/load.ts";
import { agent } from "./agent-run.ts";

const few = 1_000;
const many = 1_000_000;
const manyQuick = 100_000;
/** Before the measurement: compiles the code and the plans, and lets the services notice that their tables have grown. */
const warmupRounds = 25;
const measuredRounds = 60;

export const scale: Bench = {
  name: "scale",
  title: "Each route, one call at a time, with few sessions and runs of one client and with many",
  notMeasured:
    "sweeps, rows outside Postgres' memory, many clients, lists whose filter matches few of many runs: these read until the page is full.",
  roundsMax: 1,
  async *measure(stage) {
    const rows = stage.quick ? manyQuick : many;
    await using smallHome = await stage.openHome();
    await using largeHome = await stage.openHome();
    // The first services make the tables. Those that are measured begin with the rows, as after a restore.
    await (await stage.startService("scale-small", { home: smallHome }))[Symbol.asyncDispose]();
    await (await stage.startService("scale-large", { home: largeHome }))[Symbol.asyncDispose]();
    await growHome(smallHome, few);
    await growHome(largeHome, rows);
    await using small = await stage.startService("scale-small", { home: smallHome });
    await using large = await stage.startService("scale-large", { home: largeHome });
    using clients = new DisposableStack();
    const [ofSmall, ofLarge] = [small, large].map(({ url }) => createRoutes(clients.use(new HttpClient(url))));
    for (;;) {
      yield await measureRoutes([ofSmall, ofLarge], rows);
    }
  },
};

type Routes = ReadonlyMap<string, () => Promise<void>>;

/** Each call throws unless it succeeds. */
function createRoutes(http: HttpClient): Routes {
  const send = async (method: "GET" | "POST", path: string, body?: object): Promise<Record<string, unknown>> => {
    const { status, text } = await http.send(method, path, body);
    if (status >= 300) {
      throw new Error(`${path}: ${status} ${text}`);
    }
    return text.startsWith("{") ? JSON.parse(text) : {};
  };
  let session = "";
  let run = "";
  const get = (name: string, path: () => string): [string, () => Promise<void>] => [
    name,
    async () => void (await send("GET", path())),
  ];
  return new Map([
    [
      "create a session",
      async () => {
        session = String((await send("POST", "/v1/sessions", { agent })).session_id);
      },
    ],
    [
      "a run of one delta",
      async () => {
        run = String((await send("POST", `/v1/sessions/${session}/messages`, { message: "deltas=1 gap=0" })).run_id);
        await http.events("GET", `/v1/sessions/${session}/stream`, () => {});
      },
    ],
    get("get a session", () => `/v1/sessions/${session}`),
    get("list sessions", () => "/v1/sessions"),
    get("list messages", () => `/v1/sessions/${session}/transcript`),
    get("get a run", () => `/v1/runs/${run}`),
    get("list runs", () => "/v1/runs"),
    get("list active runs", () => "/v1/runs?states=STATE_RUNNING"),
    get("list runs of a session", () => `/v1/runs?session_id=${session}`),
    get("search runs by a rare word", () => "/v1/runs:search?query=777"),
    get("search runs by a frequent word", () => "/v1/runs:search?query=grown"),
    get("search runs by a missing word", () => "/v1/runs:search?query=nowhere"),
    get("list results", () => `/v1/runs/${run}/results`),
    get("get a receipt", () => `/v1/runs/${run}/receipt`),
    get("list callbacks", () => "/v1/callbacks"),
    get("list approvals", () => "/v1/approvals"),
    get("list pending approvals", () => "/v1/approvals?state=STATE_PENDING"),
    get("list schedules", () => "/v1/schedules"),
    get("list jobs", () => "/api/v1/jobs"),
    get("list exchanges", () => "/v1/exchanges"),
    get("list runners", () => "/v1/runners"),
    get("list bindings", () => "/v1/bindings"),
    get("usage of today", () => "/v1/usage"),
    get("health", () => "/health"),
  ]);
}

/** Calls the two services alternately: a ratio compares moments that are milliseconds apart. */
async function measureRoutes(
  [small = new Map(), large = new Map()]: readonly (Routes | undefined)[],
  rows: number,
): Promise<Variant[]> {
  const times = new Map(
    [...small.keys()].map((name): [string, { few: number[]; many: number[] }] => [name, { few: [], many: [] }]),
  );
  for (let round = -warmupRounds; round < measuredRounds; round++) {
    for (const [name, { few, many }] of times) {
      const [fewMs, manyMs] = [await timeOf(small.get(name)), await timeOf(large.get(name))];
      if (round >= 0) {
        few.push(fewMs);
        many.push(manyMs);
      }
    }
  }
  return [...times].map(([name, each]) => {
    const [fewMs, manyMs] = [percentile(each.few, 0.5), percentile(each.many, 0.5)];
    const metrics = { [`p50 at ${few}, ms`]: fewMs, [`p50 at ${rows}, ms`]: manyMs, ratio: manyMs / fewMs };
    return { name, metrics, faults: [] };
  });
}

async function timeOf(call: (() => Promise<void>) | undefined): Promise<number> {
  const startedMs = performance.now();
  await call?.();
  return performance.now() - startedMs;
}
