// Replicas are replaced one by one under load, by this version and the one before the newest migration in turn. ROLLING_SECONDS
// sets the duration. Each byte that a reader received is compared with the log.

import { createHash, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { toBinary } from "@bufbuild/protobuf";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { expectInvariants } from "../fault/invariants.ts";
import { LogReader, textOf } from "../fault/log-reader.ts";
import { openFolder } from "../fixtures.ts";
import { query, testDatabase } from "../harness/database.ts";
import { type GrpcClient, reasonOf } from "../harness/grpc.ts";
import { extractPrevious, hasHistory, type Peer, startCurrent, startPrevious } from "../versions/previous-version.ts";

const durationMs = 1_000 * Number(process.env.ROLLING_SECONDS ?? 60);
const runsPerSecond = 100;
/** A machine that cannot carry the load gets fewer runs a second. */
const activeMax = 300;
/** How long both replicas stay before one of them is replaced. */
const restMs = 3_000;
const retryMs = 50;
/** Every tenth run lasts two seconds, so that replicas stop in the middle of some. */
const messages = ["words=100 pace=20", ...Array.from({ length: 9 }, () => "words=3 pace=0")];

/** The part of a finished run that stays: at 100 runs a second all results would fill the memory. */
interface Finished {
  readonly runId: string;
  readonly sha256: string;
  readonly results: number;
  readonly restarts: number;
  readonly ms: number;
}

class Callers {
  /** The replicas that calls go to. */
  readonly #replicas: readonly Peer[];
  /** How often a call was repeated, by the reason that the service gave. */
  readonly repeated = new Map<string, number>();
  /** The same, of calls that failed with another code than UNAVAILABLE. */
  readonly wrong = new Map<string, number>();
  /** The most runs at a time: a load that the service cannot carry piles up. */
  activeMax = 0;
  active = 0;

  constructor(replicas: readonly Peer[]) {
    this.#replicas = replicas;
  }

  /** Starts a run and reads it to its end. */
  async run(index: number): Promise<Finished> {
    const startedMs = performance.now();
    this.activeMax = Math.max(this.activeMax, ++this.active);
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
    this.active--;
    return {
      runId,
      sha256: sha256Of(reader.results),
      results: reader.results.length,
      restarts: reader.count("turnRestarted"),
      ms: performance.now() - startedMs,
    };
  }

  /** Repeats a call until a replica answers it. */
  async #repeat<T>(index: number, call: (client: GrpcClient) => Promise<T>): Promise<T> {
    for (let attempt = index; ; attempt++) {
      const replica = this.#replicas[attempt % this.#replicas.length] as Peer;
      try {
        return await call(replica.client);
      } catch (error) {
        const { code } = error as ServiceError;
        if (code === undefined) {
          throw error;
        }
        const counts = code === status.UNAVAILABLE ? this.repeated : this.wrong;
        const reason = reasonOf(error as ServiceError) ?? (error as Error).message.replace(/ [\d.:]+/, "");
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
        await delay(retryMs);
      }
    }
  }
}

function sha256Of(results: readonly RunResult[]): string {
  const hash = createHash("sha256");
  for (const result of results) {
    hash.update(toBinary(RunResultSchema, result));
  }
  return hash.digest("hex");
}

const sha256Stored = `select run_id as "runId", encode(sha256(string_agg(payload, ''::bytea order by sequence)), 'hex') as sha256
  from run_result group by run_id order by run_id`;

test.runIf(hasHistory())(
  "nothing is lost, repeated or refused while replicas are replaced",
  async () => {
    const databaseUrl = await testDatabase();
    const workRoot = await openFolder();
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
    const running: Promise<Finished>[] = [];
    let skipped = 0;
    const load = (async () => {
      while (!isOver()) {
        const due = ((performance.now() - startedMs) * runsPerSecond) / 1_000;
        while (running.length < due - skipped) {
          if (callers.active >= activeMax) {
            skipped++;
            continue;
          }
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
    const finished = await Promise.all(running);

    const [counts] = await query<{ runs: number; sessions: number }>(
      databaseUrl,
      "select (select count(*) from run)::int as runs, (select count(*) from session)::int as sessions",
    );
    expect(counts).toEqual({ runs: finished.length, sessions: finished.length });
    const received = finished
      .map(({ runId, sha256 }) => ({ runId, sha256 }))
      .sort((a, b) => (a.runId < b.runId ? -1 : 1));
    expect(await query(databaseUrl, sha256Stored)).toEqual(received);
    expect(replaced).toBeGreaterThan(3);
    await expectInvariants(databaseUrl, { someWithoutChain: true });
    const times = finished.map(({ ms }) => ms).sort((a, b) => a - b);
    const sum = (field: "results" | "restarts"): number => finished.reduce((total, run) => total + run[field], 0);
    const figures = {
      seconds: durationMs / 1_000,
      runs: finished.length,
      results: sum("results"),
      replaced,
      repeated: Object.fromEntries(callers.repeated),
      wrong: Object.fromEntries(callers.wrong),
      restarts: sum("restarts"),
      medianMs: Math.round(times[Math.floor(times.length / 2)] ?? 0),
      longestMs: Math.round(times.at(-1) ?? 0),
      activeMax: callers.activeMax,
    };
    process.stdout.write(`rolling: ${JSON.stringify(figures)}\n`);
    expect(Object.fromEntries(callers.wrong)).toEqual({});
  },
  durationMs + 300_000,
);
