// Load under which a database fails: paced runs with readers over gRPC and SSE that continue where they were cut off, and a
// caller that keeps starting runs and remembers which ones it was promised.

import { setTimeout as delay } from "node:timers/promises";
import { type ServiceError, status } from "@grpc/grpc-js";
import { expect, onTestFinished } from "vitest";
import { Run_State } from "#gen/runnel/v1/run_pb.js";
import { query } from "../../harness/database.ts";
import { until } from "../../harness/wait.ts";
import { getRun, type Member, startRun } from "../cluster.ts";
import { expectInvariants } from "../invariants.ts";
import { expectStored, LogReader, SseLogReader } from "../log-reader.ts";

/** The pause between two runs of the caller, and between a reader's attempts. */
const pauseMs = 100;

export interface Load {
  readonly readers: readonly LogReader[];
  /** Resolves when every reader has some results and no run has ended. */
  flows(): Promise<void>;
  /** Codes of readers' streams that broke, and of calls that failed. */
  readonly codes: ReadonlySet<status>;
  /** The number of results read so far. */
  countRead(): number;
  /** Waits until all runs have ended and every reader has its end; then compares with the tables. */
  expectNothingLost(databaseUrl: string): Promise<void>;
}

/** Starts the runs on the owners in turn. `member` has their readers and the caller, and has to stay alive. */
export async function startLoad(
  member: Member,
  { runs, message, owners = [member] }: { runs: number; message: string; owners?: readonly Member[] },
): Promise<Load> {
  const over = new AbortController();
  onTestFinished(() => over.abort());
  const codes = new Set<status>();
  const runIds = await Promise.all(
    Array.from({ length: runs }, async (_, index) => {
      const owner = owners[index % owners.length] ?? member;
      return (await startRun(owner.client, message)).runId;
    }),
  );
  const readers = runIds.map((runId) => new LogReader(runId));
  const sseReaders = runIds.map((runId) => new SseLogReader(runId));
  const reading = Promise.all([
    ...readers.map((reader) => readToTheEnd(reader, member, codes, over.signal)),
    ...sseReaders.map((reader) => readSseToTheEnd(reader, member, over.signal)),
  ]);
  // The error surfaces where `reading` is awaited.
  reading.catch(() => {});
  const caller = new Caller(member, codes);
  const countRead = (): number => readers.reduce((sum, reader) => sum + reader.results.length, 0);
  return {
    readers,
    codes,
    countRead,
    flows: async () => {
      const all = [...readers.map(({ results }) => results), ...sseReaders.map(({ events }) => events)];
      await until("all readers to follow", () => all.every(({ length }) => length >= 5), 40_000);
      await until("the first promise", () => caller.hasPromise, 40_000);
      expect(readers.filter((reader) => reader.count("runCompleted") > 0)).toEqual([]);
    },
    expectNothingLost: async (databaseUrl) => {
      const promised = await caller.finish();
      expect(promised.length).toBeGreaterThan(0);
      await reading;
      // Readers that were cut off got RESUME and came again.
      expect(readers.flatMap(({ breaks }) => breaks).filter((reason) => reason !== "RESUME")).toEqual([]);
      for (const [index, reader] of readers.entries()) {
        await expectStored(databaseUrl, reader.runId, reader.results);
        expect(sseReaders[index]?.events).toHaveLength(reader.results.length);
        expect(await getRun(member.client, reader.runId)).toMatchObject({ state: Run_State.COMPLETED });
      }
      const rows = await query<{ id: string }>(databaseUrl, "select id from run where id = any($1)", [promised]);
      expect(rows.map(({ id }) => id).sort()).toEqual([...promised].sort());
      for (const runId of promised) {
        await until("a promised run to end", async () => {
          const { state } = await getRun(member.client, runId);
          return state === Run_State.COMPLETED;
        });
      }
      await expectInvariants(databaseUrl);
    },
  };
}

/** A stream may be cut or end with RESUME; both are UNAVAILABLE. */
async function readToTheEnd(
  reader: LogReader,
  { client }: Member,
  codes: Set<status>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const code = await reader.follow(client);
    if (code === status.OK) {
      return;
    }
    codes.add(code);
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

async function readSseToTheEnd(reader: SseLogReader, { url }: Member, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const end = await reader.follow(url).catch((error: unknown) => {
      // The stream was refused with a status.
      if (error instanceof Error && error.message.startsWith("503:")) {
        return "broken";
      }
      throw error;
    });
    if (end === "finished") {
      return;
    }
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
}

/** Starts runs of a few words, one after the other. */
class Caller {
  readonly #promised: string[] = [];
  readonly #over = new AbortController();
  readonly #calling: Promise<void>;

  constructor({ client }: Member, codes: Set<status>) {
    onTestFinished(() => this.#over.abort());
    this.#calling = this.#call(client, codes);
  }

  get hasPromise(): boolean {
    return this.#promised.length > 0;
  }

  /** Stops, and returns the runs that were promised. */
  async finish(): Promise<readonly string[]> {
    this.#over.abort();
    await this.#calling;
    return this.#promised;
  }

  async #call(client: Member["client"], codes: Set<status>): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      try {
        const { runId } = await startRun(client, "words=3 pace=0");
        this.#promised.push(runId);
      } catch (error) {
        codes.add((error as ServiceError).code);
      }
      await delay(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
