// The way to Postgres: one pool for queries, and single connections for whoever needs one of its own (a lane of the
// log, LISTEN). Every connection has time limits, so that a frozen database never holds a caller for ever.

import { type Kysely as Database, Kysely, type Transaction as KyselyTransaction, PostgresDialect } from "kysely";
import pg from "pg";
import { systemClock } from "../base/clock.ts";
import type { PoolFigures } from "../telemetry/metrics/sources.ts";
import { isRefusal } from "./errors.ts";
import type { Schema } from "./schema.ts";

export type Db = Database<Schema>;
export type Transaction = KyselyTransaction<Schema>;
/** A connection of its own, outside the pool. */
export type Connection = pg.Client;

/** Where Postgres is: a URL, or the parts of a login (a socket directory counts as host). */
export type DatabaseAddress =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

export interface Connections {
  readonly db: Db;
  /** Few connections for what keeps this replica alive (lease, takeover, cancels): it never queues behind callers. */
  readonly control: Db;
  /** A connection of its own; the caller ends it. */
  connect(name: string, limits?: TimeLimits): Promise<Connection>;
  /** Calls back whenever Postgres lets no connection in, or has no room for what it is asked to do. */
  watchRefusals(onRefused: () => void): void;
  readPools(): readonly PoolFigures[];
  close(): Promise<void>;
}

/** How long a connection waits for Postgres; 0 means for ever. */
export interface TimeLimits {
  /** To be let in; in a pool also for one that is free. */
  readonly connectMs: number;
  /** Postgres itself ends a statement after this. */
  readonly statementMs: number;
  /** A server that does not even answer with an error is given up after this, by our side. */
  readonly answerMs: number;
}

/** No statement of ours takes longer unless Postgres is in trouble. */
const usualLimits: TimeLimits = { connectMs: 5_000, statementMs: 10_000, answerMs: 12_000 };
/** Statements that look after runs are small. Whoever hangs is soon asked anew: a lease is to be back within 5 s. */
const controlLimits: TimeLimits = { connectMs: 3_000, statementMs: 3_000, answerMs: 4_000 };
/** Whoever listens is silent on purpose. */
export const listenLimits: TimeLimits = { connectMs: 5_000, statementMs: 0, answerMs: 0 };
/** A transaction of ours never waits for anything but Postgres. */
const idleInTransactionTimeoutMs = 10_000;
/** A twin of a create waits this long for the first one to commit. */
const lockTimeoutMs = 5_000;
/** A connection on which nothing happens asks this often whether the other side is there; the system's own two hours are too long. */
const probeAfterMs = 20_000;
/** For the other side to close as well. A dead wire never lets it, and nobody is to wait for that. */
const goodbyeTimeoutMs = 1_000;
/** One for the lease, for claims, for cancels and for the reaper: none waits for another one that hangs. */
const controlPoolSize = 4;

export interface ConnectionOptions {
  readonly poolSize: number;
  /** Hears of connections that break while idle; without a listener Node would end the process. */
  readonly onConnectionError: (error: Error) => void;
  /** A statement of the pools has been answered, or has failed. */
  readonly onStatement?: (durationMs: number) => void;
}

export function openConnections(address: DatabaseAddress, options: ConnectionOptions): Connections {
  const listeners = new Set<() => void>();
  const onRefused = (): void => {
    for (const listener of listeners) {
      listener();
    }
  };
  const watched = { ...options, onRefused };
  const main = openPool({ name: "main", size: options.poolSize }, configure(address, "runnel", usualLimits), watched);
  const control = openPool(
    { name: "control", size: controlPoolSize },
    configure(address, "runnel control", controlLimits),
    watched,
  );
  return {
    db: main.db,
    control: control.db,
    readPools: () => [main.read(), control.read()],
    connect: async (name, limits = usualLimits) => {
      const client = new pg.Client(configure(address, `runnel ${name}`, limits));
      client.on("error", options.onConnectionError);
      watchAnswers(client, onRefused);
      await client.connect().catch(refused(onRefused));
      return client;
    },
    watchRefusals: (listener) => {
      listeners.add(listener);
    },
    close: async () => {
      await Promise.all([main.db.destroy(), control.db.destroy()]);
    },
  };
}

interface Pool {
  readonly db: Db;
  readonly read: () => PoolFigures;
}

function openPool(
  { name, size }: { readonly name: string; readonly size: number },
  config: pg.ClientConfig,
  { onConnectionError, onStatement, onRefused }: ConnectionOptions & { readonly onRefused: () => void },
): Pool {
  const pool = new pg.Pool({ ...config, max: size, idleTimeoutMillis: 30_000 });
  pool.on("error", onConnectionError);
  pool.on("connect", prepareStatements);
  pool.on("connect", (client) => watchAnswers(client, onRefused));
  // The pool listens to idle clients alone. One that breaks at work fails its statement; unheard it would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: {
        connect: () => pool.connect().catch(refused(onRefused)),
        end: () => pool.end(),
        options: pool.options,
      },
    }),
    // What was asked, and with which values, goes nowhere.
    ...(onStatement && { log: ({ queryDurationMillis }) => onStatement(queryDurationMillis) }),
  });
  const read = (): PoolFigures => ({
    name,
    size,
    inUse: pool.totalCount - pool.idleCount,
    // Everybody queues for a moment, also for a connection that is free or may be opened.
    waiting: Math.max(0, pool.waitingCount - pool.idleCount - (size - pool.totalCount)),
  });
  return { db, read };
}

/** Tells of a connection that was not let in, and fails with the same. A pool that is busy is our own affair. */
function refused(onRefused: () => void): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error && error.message === poolBusy)) {
      onRefused();
    }
    throw error;
  };
}

/** What pg says when no connection of a pool became free in time. */
const poolBusy = "timeout exceeded when trying to connect";

type Query = (text: unknown, values?: unknown, ...rest: unknown[]) => unknown;

/**
 * Gives a connection up that left a statement without an answer. Whoever swallowed one swallows the next as well; or is
 * still at work on it, and then the next would find itself in the middle of somebody else's transaction. Tells of answers
 * that refuse.
 */
function watchAnswers(client: pg.Client, onRefused: () => void): void {
  const query = client.query.bind(client) as Query;
  const watched: Query = (...asked) => {
    const answer = query(...asked);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (error instanceof Error && error.message === unanswered) {
          void client.end();
        } else if (isRefusal(error)) {
          onRefused();
        }
      });
    }
    return answer;
  };
  client.query = watched as typeof client.query;
  boundGoodbye(client);
}

/** What pg says of a statement that nobody answered in time. */
const unanswered = "Query read timeout";

function boundGoodbye(client: pg.Client): void {
  const end = client.end.bind(client);
  const endInTime = async (): Promise<void> => {
    const ended = new AbortController();
    void systemClock.sleep(goodbyeTimeoutMs, ended.signal).then(() => {
      if (!ended.signal.aborted) {
        client.connection.stream.destroy();
      }
    });
    await end();
    ended.abort();
  };
  // Pools hand over a callback.
  client.end = ((onEnd?: (error?: Error) => void) => {
    const ending = endInTime();
    if (onEnd === undefined) {
      return ending;
    }
    ending.then(() => onEnd(), onEnd);
    return undefined;
  }) as typeof client.end;
}

/** Texts come from our own code and are few; lists of values make some of them many. */
const preparedTextsMax = 200;
const preparedNames = new Map<string, string>();

/**
 * Lets a connection keep the plans of what it is asked again and again: Kysely's statements carry no name. Columns are
 * listed one by one everywhere, since a kept plan with a star fails when a newer version adds a column.
 */
function prepareStatements(client: pg.PoolClient): void {
  const query = client.query.bind(client) as Query;
  const prepared: Query = (text, values, ...rest) => {
    const name = typeof text === "string" && Array.isArray(values) && values.length > 0 ? nameOf(text) : undefined;
    return name === undefined ? query(text, values, ...rest) : query({ name, text, values }, ...rest);
  };
  client.query = prepared as typeof client.query;
}

function nameOf(text: string): string | undefined {
  const known = preparedNames.get(text);
  if (known !== undefined || preparedNames.size >= preparedTextsMax) {
    return known;
  }
  const name = `runnel ${preparedNames.size + 1}`;
  preparedNames.set(text, name);
  return name;
}

/** False for a text that Postgres cannot hold, nor be asked for: no row has it. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0");
}

function configure(
  address: DatabaseAddress,
  applicationName: string,
  { connectMs, statementMs, answerMs }: TimeLimits,
): pg.ClientConfig {
  return {
    ...address,
    application_name: applicationName,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
    types: { getTypeParser: typeParser },
    ...(statementMs > 0 && {
      statement_timeout: statementMs,
      query_timeout: answerMs,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
      lock_timeout: lockTimeoutMs,
    }),
  };
}

/** int8 as a number: our 64-bit columns are sequences and counts, which stay far below 2^53. */
const typeParser = ((oid: number, format?: "text" | "binary") =>
  oid === pg.types.builtins.INT8
    ? Number
    : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;
