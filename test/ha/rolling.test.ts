// Replicas are replaced one by one under load, by this version and the one before the newest migration in turn. ROLLING_SECONDS
// sets the duration.

import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, onTestFinished, test } from "vitest";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { expectInvariants } from "../fault/invariants.ts";
import { LogReader, textOf } from "../fault/log-reader.ts";
import { query, testDatabase } from "../harness/database.ts";
import { type GrpcClient, reasonOf } from "../harness/grpc.ts";
import { extractPrevious, hasHistory, type Peer, startCurrent, startPrevious } from "../versions/previous-version.ts";

const durationMs = 1_000 * Number(process.env.ROLLING_SECONDS ?? 60);
const runsPerSecond = 100;
/** How long both replicas stay before one of them is replaced. */
const restMs = 3_000;
const retryMs = 50;
/** Every tenth run lasts two seconds, so that replicas stop in the middle of some. */
const messages = ["words=100 pace=20", ...Array.from({ length: 9 }, () => "words=3 pace=0")];

class Callers {
  /** The replicas that calls go to. */
  readonly #replicas: readonly Peer[];
  /** How often a call was repeated, by the reason that the service gave. */
  readonly repeated = new Map<string, number>();

  constructor(replicas: readonly Peer[]) {
    this.#replicas = replicas;
  }

  /** Starts a run and reads it to its end. */
  async run(index: number): Promise<LogReader> {
    const { createSession, sendMessage } = SessionService.method;
    const ids = [randomUUID(), randomUUID()];
    const message = messages[index % messages.length] ?? "";
    const { sessionId } = await this.#repeat(index, (client) =>
      client.call(createSession, { agent: { name: "rolling" }, requestId: ids[0] ?? "" }),
    );
    const { runId } = await this.#repeat(index, (client) =>
      client.call(sendMessage, { sessionId, message, requestId: ids[1] ?? "" }),
    );
    const reader = new LogReader(runId);
    await this.#repeat(index, async (client) => {
      const code = await reader.follow(client);
      if (code !== status.OK) {
        throw Object.assign(new Error("the stream ended early"), { code });
      }
    });
    const words = Number(/words=(\d+)/.exec(message)?.[1]);
    expect(textOf(reader.results).match(/\S+/g)).toHaveLength(words);
    expect(reader.count("runCompleted")).toBe(1);
    return reader;
  }

  /** Repeats a call until a replica answers it, as clients do. */
  async #repeat<T>(index: number, call: (client: GrpcClient) => Promise<T>): Promise<T> {
    for (let attempt = index; ; attempt++) {
      const replica = this.#replicas[attempt % this.#replicas.length] as Peer;
      try {
        return await call(replica.client);
      } catch (error) {
        if ((error as ServiceError).code !== status.UNAVAILABLE) {
          throw error;
        }
        const reason = reasonOf(error as ServiceError) ?? (error as Error).message.replace(/ [\d.:]+/, "");
        this.repeated.set(reason, (this.repeated.get(reason) ?? 0) + 1);
        await delay(retryMs);
      }
    }
  }
}

test.runIf(hasHistory())(
  "nothing is lost, repeated or refused while replicas are replaced",
  async () => {
    const databaseUrl = await testDatabase();
    const workRoot = await mkdtemp(join(tmpdir(), "runnel-work-"));
    onTestFinished(() => rm(workRoot, { recursive: true, force: true }));
    const environment = {
      RUNNEL_DATABASE_URL: databaseUrl,
      RUNNEL_SESSIONS_WORK_ROOT: workRoot,
      RUNNEL_SESSIONS_MAX_CONCURRENT: "0",
      RUNNEL_RATELIMIT_RPS: "0",
      RUNNEL_DATABASE_POOL_SIZE: "10",
      RUNNEL_RUNS_LEASE_MS: "5000",
    };
    const folder = extractPrevious();
    const startOld = (): Promise<Peer> => startPrevious(environment, folder);
    const startNew = (): Promise<Peer> => startCurrent(environment);
    const replicas = [await startOld(), await startOld()];
    const callers = new Callers(replicas);

    const startedMs = performance.now();
    const isOver = (): boolean => performance.now() - startedMs > durationMs;
    const running: Promise<LogReader>[] = [];
    const load = (async () => {
      while (!isOver()) {
        const due = ((performance.now() - startedMs) * runsPerSecond) / 1_000;
        while (running.length < due) {
          const run = callers.run(running.length);
          // The error surfaces where all are awaited.
          run.catch(() => {});
          running.push(run);
        }
        await delay(10);
      }
    })();
    let replaced = 0;
    while (!isOver()) {
      await delay(restMs);
      const place = replaced % replicas.length;
      const leaving = replicas[place];
      // Twice new, twice old: each pair of versions meets, and each leaves while the other stays.
      replicas[place] = await (replaced % 4 < 2 ? startNew() : startOld());
      await leaving?.stop();
      replaced++;
    }
    await load;
    const readers = await Promise.all(running);

    const [counts] = await query<{ runs: number; sessions: number }>(
      databaseUrl,
      "select (select count(*) from run)::int as runs, (select count(*) from session)::int as sessions",
    );
    expect(counts).toEqual({ runs: readers.length, sessions: readers.length });
    expect(new Set(readers.map(({ runId }) => runId)).size).toBe(readers.length);
    expect(replaced).toBeGreaterThan(3);
    await expectInvariants(databaseUrl, { someWithoutChain: true });
    const restarts = readers.reduce((sum, reader) => sum + reader.count("turnRestarted"), 0);
    const results = readers.reduce((sum, reader) => sum + reader.results.length, 0);
    const figures = {
      seconds: durationMs / 1_000,
      runs: readers.length,
      results,
      replaced,
      repeated: Object.fromEntries(callers.repeated),
      restarts,
    };
    process.stdout.write(`rolling: ${JSON.stringify(figures)}\n`);
  },
  durationMs + 300_000,
);
