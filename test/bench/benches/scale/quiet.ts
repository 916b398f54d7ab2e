// What a service makes Postgres do while no client calls: its passes, and the looks of open streams.

import { setTimeout as delay } from "node:timers/promises";
import type { Variant } from "../../bench.ts";
import { bearerHeaders } from "../../harness/credentials.ts";
import type { OpenHome } from "../../harness/home.ts";
import type { Caller } from "./caller.ts";

const quietSeconds = 30;

interface Quiet {
  readonly home: OpenHome;
  readonly url: string;
  readonly caller: Caller;
}

/** Watches both services for the same time, with a watch of runs, one of approvals and a worker. */
export async function measureQuiet(
  services: readonly [Quiet, Quiet],
  [few, many]: readonly [number, number],
): Promise<Variant[]> {
  const closing = new AbortController();
  try {
    for (const { url, caller } of services) {
      for (const path of [
        "/v1/runs:watch",
        "/v1/approvals:watch",
        `/v1/workers/${caller.kept("worker")}/assignments:listen`,
      ]) {
        await openStream(`${url}${path}`, closing.signal);
      }
    }
    const before = await Promise.all(services.map(({ home }) => readCounts(home)));
    await delay(quietSeconds * 1_000);
    const after = await Promise.all(services.map(({ home }) => readCounts(home)));
    return (["rows", "transactions"] as const).map((kind) => {
      const [ofFew = Number.NaN, ofMany = Number.NaN] = after.map(
        (counts, index) => (counts[kind] - (before[index]?.[kind] ?? Number.NaN)) / quietSeconds,
      );
      const metrics = { [`a second at ${few}`]: ofFew, [`a second at ${many}`]: ofMany, ratio: ofMany / ofFew };
      return { name: `${kind} of a service without calls`, metrics, faults: [] };
    });
  } finally {
    closing.abort();
  }
}

async function openStream(url: string, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, { headers: { ...bearerHeaders, accept: "text/event-stream" }, signal });
  if (!response.ok) {
    throw new Error(`${url}: ${response.status} ${await response.text()}`);
  }
  response.text().catch(() => {});
}

interface Counts {
  /** Rows of full scans, and entries of indexes. */
  readonly rows: number;
  readonly transactions: number;
}

async function readCounts(home: OpenHome): Promise<Counts> {
  const connection = await home.connect();
  try {
    const { rows } = await connection.query<Counts>(`
      select (xact_commit + xact_rollback)::float8 as transactions, (
        select coalesce(sum(seq_tup_read), 0) + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes)
        from pg_stat_user_tables
      )::float8 as rows
      from pg_stat_database where datname = current_database()`);
    return rows[0] as Counts;
  } finally {
    await connection.end();
  }
}
