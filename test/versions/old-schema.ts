// Databases with the schema of an earlier version, real rows in them, and a writer and a reader that know nothing newer.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Kysely, sql } from "kysely";
import { Migrator } from "kysely/migration";
import pg from "pg";
import { onTestFinished } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { repositoryRoot } from "../../scripts/run-command.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { type Connections, openConnections } from "../../src/platform/database/database.ts";
import { listMigrations } from "../../src/platform/database/migrate.ts";
import { defaultClientId } from "../harness/credentials.ts";
import { emptyDatabase } from "../harness/database.ts";
import { until } from "../harness/wait.ts";

/** The limits that the service sets for its own statements: a writer that waits longer fails. */
const serviceLimits = { lock_timeout: 5_000, statement_timeout: 10_000 };
const input = toBinary(
  MessageSchema,
  create(MessageSchema, { role: "user", content: { case: "text", value: "words=3 pace=0" } }),
);
const agent = toBinary(AgentSchema, create(AgentSchema, { name: "versions" }));
const deadlock = "40P01";

/** A database that is empty at first. It is dropped with the test. */
export async function openEmpty(): Promise<{ readonly url: string; readonly connections: Connections }> {
  const url = await emptyDatabase();
  const connections = openConnections({ connectionString: url }, { poolSize: 2, onConnectionError: () => {} });
  onTestFinished(connections.close);
  return { url, connections };
}

/** Migrates to a schema that was the newest one once. */
export async function migrateTo({ openPatient }: Connections, newest: string): Promise<void> {
  const names = (await listMigrations()).filter((name) => name <= newest);
  const texts = await Promise.all(
    names.map((name) => readFile(join(repositoryRoot, `migrations/${name}.sql`), "utf8")),
  );
  const migrations = Object.fromEntries(
    names.map((name, index) => [
      name,
      { up: async (db: Kysely<never>) => void (await sql.raw(texts[index] ?? "").execute(db)) },
    ]),
  );
  const { db, close } = openPatient();
  const { error } = await new Migrator({ db, provider: { getMigrations: async () => migrations } })
    .migrateToLatest()
    .finally(close);
  if (error !== undefined) {
    throw error;
  }
}

/** A connection with the time limits of the service. It is closed with the test. */
export async function connectLimited(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...serviceLimits });
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

export const statuses = ["queued", "running", "waiting", "completed", "failed", "cancelled"] as const;
export type Status = (typeof statuses)[number];

/** Inserts a session with a run, its input and its log, in the columns that every schema has. Returns the id of the run. */
export async function addRun(db: pg.Client, status: Status, client = `key/${defaultClientId}`): Promise<string> {
  const [session, runId, replica] = [1, 2, 3].map(() => newUuid(systemClock.nowMs()));
  await db.query(
    "insert into session (id, client, name, agent, latest_run_id) values ($1::uuid, $2, $1::uuid::text, $3, $4)",
    [session, client, agent, runId],
  );
  if (status === "running") {
    // It has died.
    await db.query("insert into replica (id, lease_until) values ($1, now() - interval '1 minute')", [replica]);
  }
  await db.query(
    `insert into run (id, client, session, driver, input, status, owner, epoch, wake_at, wait_reason, deadline)
     values ($1, $2, $3, 'llm-loop', $4, $5, $6, $7, now(), $8, now() + interval '1 hour')`,
    [
      runId,
      client,
      session,
      input,
      status === "running" || status === "waiting" ? status : "queued",
      status === "running" ? replica : null,
      status === "queued" ? 0 : 1,
      status === "waiting" ? "retry" : null,
    ],
  );
  await db.query("insert into transcript (session, position, run_id, message) values ($1, 0, $2, $3)", [
    session,
    runId,
    input,
  ]);
  if (status !== "queued") {
    await addResult(db, runId ?? "", 1, {
      case: "messageDelta",
      value: { chunk: { role: "assistant", content: "a " } },
    });
  }
  if (status === "completed" || status === "failed" || status === "cancelled") {
    await endRun(db, runId ?? "", status);
  }
  return runId ?? "";
}

/** Inserts the last result, and ends the run with it. */
export async function endRun(
  db: pg.Client,
  runId: string,
  status: "completed" | "failed" | "cancelled",
): Promise<void> {
  const terminal = await addResult(
    db,
    runId,
    2,
    status === "completed"
      ? { case: "runCompleted", value: { finishReason: "stop", output: "a ", turns: 1 } }
      : { case: "runFailed", value: { code: status === "failed" ? "runner.error" : "cancelled", error: "it ended" } },
  );
  await db.query(
    `update run set status = $2, owner = null, wake_at = null, epoch = 1, turn = 1, start_time = now(), end_time = now(),
       last_sequence = 2, terminal = $3 where id = $1`,
    [runId, status, terminal],
  );
}

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

async function addResult(db: pg.Client, runId: string, sequence: number, payload: Payload): Promise<Uint8Array> {
  const result = create(RunResultSchema, { runId, sequence: BigInt(sequence), payload });
  const bytes = toBinary(RunResultSchema, result);
  await db.query("insert into run_result (run_id, sequence, epoch, payload) values ($1, $2, 1, $3)", [
    runId,
    sequence,
    bytes,
  ]);
  return bytes;
}

/** Repeats a step until it is ended, and measures how long the longest one took. A deadlock is no error: the service repeats too. */
export class Repeated {
  #isOver = false;
  readonly #running: Promise<void>;
  steps = 0;
  longestMs = 0;

  constructor(step: () => Promise<unknown>) {
    this.#running = this.#run(step);
    // The error surfaces where the end is awaited.
    this.#running.catch(() => {});
  }

  /** Resolves when this many more steps are done. Rejects with the error of a step. */
  async further(count: number): Promise<void> {
    const enough = this.steps + count;
    const done = until("further steps", () => this.steps >= enough);
    await Promise.race([done, this.#running]);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(step: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      const startedMs = performance.now();
      try {
        await step();
      } catch (error) {
        if (!(error instanceof pg.DatabaseError && error.code === deadlock)) {
          throw error;
        }
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - startedMs);
      this.steps++;
    }
  }
}
