// Commits in a database all the time, to know when it was silent: a busy disk can stall commits for seconds, and a service is then
// rightly not ready.

import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { onTestFinished } from "vitest";
import type { Outage } from "./probe-watch.ts";

const intervalMs = 100;
/** Less than the silence after which a service is not ready. */
const silentMs = 500;
const giveUpMs = 1_000;

export interface CommitWatch {
  /** Returns the outages that began while the database answered. */
  unfounded(outages: readonly Outage[]): readonly Outage[];
}

export function watchCommits(databaseUrl: string): CommitWatch {
  const over = new AbortController();
  const answersMs = [performance.now()];
  const committing = repeat(databaseUrl, over.signal, () => answersMs.push(performance.now()));
  onTestFinished(async () => {
    over.abort();
    await committing;
  });
  return {
    unfounded: (outages) => outages.filter(({ atMs }) => longestGap(answersMs, atMs - 2 * silentMs, atMs) < silentMs),
  };
}

/** Returns the longest time between two answers of which the second came later than `fromMs`, and the first before `untilMs`. */
function longestGap(answersMs: readonly number[], fromMs: number, untilMs: number): number {
  const gaps = answersMs.map((atMs, index) => ({ atMs, endMs: answersMs[index + 1] ?? untilMs }));
  const near = gaps.filter(({ atMs, endMs }) => endMs > fromMs && atMs < untilMs);
  return Math.max(0, ...near.map(({ atMs, endMs }) => endMs - atMs));
}

/** Over a new connection each time, as the service does when it doubts the database. */
async function repeat(databaseUrl: string, signal: AbortSignal, hear: () => void): Promise<void> {
  while (!signal.aborted) {
    const connection = new pg.Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: giveUpMs,
      query_timeout: giveUpMs,
    });
    // The statement that the error ends fails too.
    connection.on("error", () => {});
    try {
      await connection.connect();
      await connection.query("select pg_logical_emit_message(true, 'test', '')");
      hear();
    } catch {
      // The gap between two answers shows it.
    } finally {
      await connection.end().catch(() => {});
    }
    await delay(intervalMs);
  }
}
