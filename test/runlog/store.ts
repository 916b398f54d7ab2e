// A test's own database, with the rows that a log needs: replicas, sessions, runs.

import { create, toBinary } from "@bufbuild/protobuf";
import { onTestFinished } from "vitest";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { LogChain, startOfChain } from "../../src/engine/hash-chain/chain.ts";
import { decodeResult, type ResultInit } from "../../src/engine/log/result.ts";
import type { HeardMessage, Topic, Wakeup, WakeupMessage } from "../../src/engine/log/wakeup.ts";
import type { CompletedEnd } from "../../src/engine/runs/driver.ts";
import { insertReplica } from "../../src/engine/storage/replica.ts";
import type { Spent } from "../../src/engine/storage/run.ts";
import { insertResults, readResults } from "../../src/engine/storage/run-result.ts";
import { insertRun, type StartedRun } from "../../src/engine/storage/run-start.ts";
import { insertSession } from "../../src/engine/storage/session.ts";
import { type Clock, systemClock } from "../../src/platform/base/clock.ts";
import { newUuid } from "../../src/platform/base/ids.ts";
import { type Connections, type Db, openConnections } from "../../src/platform/database/database.ts";
import { createEvents, type Events } from "../../src/platform/telemetry/events.ts";
import { createLogger } from "../../src/platform/telemetry/logger.ts";
import { ownDatabase, testDatabase } from "../harness/database.ts";

/** Longer than any test: a lease that only the test ends. */
const leaseMs = 3_600_000;

export interface Store {
  readonly url: string;
  readonly connections: Connections;
  readonly db: Db;
}

export async function openStore(options: { poolSize?: number; own?: boolean } = {}): Promise<Store> {
  const url = await (options.own === true ? ownDatabase() : testDatabase());
  return { url, ...connect(url, options) };
}

/** One more pool on a database, like another replica's. Closed with the test. */
export function connect(url: string, { poolSize = 4 }: { poolSize?: number } = {}): Omit<Store, "url"> {
  const connections = openConnections({ connectionString: url }, { poolSize, onConnectionError: () => {} });
  onTestFinished(() => connections.close());
  return { connections, db: connections.db };
}

export async function addReplica(db: Db): Promise<string> {
  const id = newUuid(systemClock.nowMs());
  await insertReplica(db, { id, leaseMs });
  return id;
}

export async function endLease(db: Db, id: string): Promise<void> {
  await db
    .updateTable("replica")
    .set({ lease_until: new Date(0) })
    .where("id", "=", id)
    .execute();
}

export async function addSession(db: Db, client = "shared/test"): Promise<string> {
  const id = newUuid(systemClock.nowMs());
  const agent = toBinary(AgentSchema, create(AgentSchema, { name: "test" }));
  await db
    .transaction()
    .execute((trx) => insertSession(trx, { id, client, name: id, agent, workDir: undefined, callback: undefined }));
  return id;
}

export interface RunChoice {
  readonly owner?: string;
  readonly client?: string;
  readonly driver?: string;
  readonly timeoutMs?: number;
  readonly priority?: number;
  /** How long before now its id was made; 0 when unset. */
  readonly ageMs?: number;
}

export const input: Uint8Array = toBinary(
  MessageSchema,
  create(MessageSchema, { role: "user", content: { case: "text", value: "hello" } }),
);

/** The end of a run whose last message is this text. */
export function completedWith(text: string, turns = 1): CompletedEnd {
  const message = create(MessageSchema, { role: "assistant", content: { case: "text", value: text } });
  return { kind: "completed", finishReason: "stop", message, turns };
}

/** A run in a session of its own: running when it has an owner, else queued. */
export async function addRun(db: Db, choice: RunChoice = {}): Promise<StartedRun> {
  const { owner, client = "shared/test", driver = "test", timeoutMs = 3_600_000, priority, ageMs = 0 } = choice;
  const session = await addSession(db, client);
  const id = newUuid(systemClock.nowMs() - ageMs);
  const run = await db
    .transaction()
    .execute((trx) => insertRun(trx, { id, client, session, driver, input, timeoutMs, owner, priority }));
  if (run === undefined) {
    throw new Error("the session is new, so it has no other run");
  }
  return run;
}

/** The chain of an empty log. */
export function newChain(runId: string): LogChain {
  return new LogChain(startOfChain(runId));
}

/** The end of a run that used nothing. */
export const nothingSpent: Spent = { promptTokens: 0, completionTokens: 0, costMicroUsd: 0 };

/** Writes rows without any check, as a bug or another owner would. */
export async function plant(db: Db, runId: string, epoch: number, sequences: readonly number[]): Promise<void> {
  const payload = Buffer.from("planted");
  const rows = sequences.map((sequence) => ({ runId, sequence, epoch, payload }));
  await db.transaction().execute((trx) => insertResults(trx, rows));
}

export function turn(number: number): ResultInit {
  return { payload: { case: "turnStarted", value: { turn: number } } };
}

export function text(content: string): ResultInit {
  return { payload: { case: "messageDelta", value: { chunk: { role: "assistant", content, msgSequence: 1 } } } };
}

/** The log of a run: each sequence with a short form of its payload. */
export async function readLog(db: Db, runId: string): Promise<[number, string | number | undefined][]> {
  const rows = await readResults(db, { runId, after: 0, limit: 100_000 });
  return rows.map(({ sequence, payload }) => [sequence, shorten(payload)]);
}

function shorten(bytes: Uint8Array): string | number | undefined {
  const { payload } = decodeResult(bytes);
  if (payload.case === "turnStarted") {
    return payload.value.turn;
  }
  return payload.case === "messageDelta" ? payload.value.chunk?.content : payload.case;
}

/** Wake-ups inside one process that a test can inspect, lose, or follow with a gap. */
export class LocalWakeup implements Wakeup {
  readonly published: WakeupMessage[] = [];
  losing = false;
  readonly #listeners = new Map<string, Set<(message: HeardMessage) => void>>();
  readonly #gapListeners = new Set<() => void>();

  /** Publishes as another replica, unless `isOwn` is true. */
  publish(message: WakeupMessage, isOwn = false): void {
    this.published.push(message);
    if (this.losing) {
      return;
    }
    this.#tell({ ...message, isOwn });
  }

  wake(topic: Topic): void {
    this.#tell({ topic, key: "", value: 0, isOwn: true });
  }

  subscribe(topic: string, listener: (message: HeardMessage) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  onGap(listener: () => void): () => void {
    this.#gapListeners.add(listener);
    return () => this.#gapListeners.delete(listener);
  }

  gap(): void {
    for (const listener of this.#gapListeners) {
      listener();
    }
  }

  async close(): Promise<void> {}

  #tell(message: HeardMessage): void {
    for (const listener of this.#listeners.get(message.topic) ?? []) {
      listener(message);
    }
  }
}

export const silentEvents: Events = createEvents(createLogger("silent"));

/** A clock whose time runs normally, but whose long sleeps end early: for loops that poll. */
export function hurriedClock(sleepMaxMs: number): Clock {
  return { ...systemClock, sleep: (delayMs, signal) => systemClock.sleep(Math.min(delayMs, sleepMaxMs), signal) };
}
