// The way to Postgres: one pool for queries, and single connections for whoever needs one of its own (a lane of the
// log, LISTEN). Every connection has time limits, so that a frozen database never holds a caller for ever.

import { type Kysely as Database, Kysely, type Transaction as KyselyTransaction, PostgresDialect } from "kysely";
import pg from "pg";
import { systemClock } from "../base/clock.ts";
import type { PoolFigures } from "../telemetry/metrics/sources.ts";
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
  /** A connection of its own; the caller ends it. `statementTimeoutMs` 0 means none, for LISTEN. */
  connect(name: string, statementTimeoutMs?: number): Promise<Connection>;
  readPools(): readonly PoolFigures[];
  close(): Promise<void>;
}

/** No statement of ours takes longer unless Postgres is in trouble; a frozen server is noticed after this. */
const statementTimeoutMs = 10_000;
/** A transaction of ours never waits for anything but Postgres. */
const idleInTransactionTimeoutMs = 10_000;
/** A twin of a create waits this long for the first one to commit. */
const lockTimeoutMs = 5_000;
const connectTimeoutMs = 5_000;
/** A connection on which nothing happens asks this often whether the other side is there; the system's own two hours are too long. */
const probeAfterMs = 20_000;
/** For the other side to close as well. A dead wire never lets it, and nobody is to wait for that. */
const goodbyeTimeoutMs = 1_000;
/** One for the lease, one for whatever else looks after runs. */
const controlPoolSize = 2;

export interface ConnectionOptions {
  readonly poolSize: number;
  /** Hears of connections that break while idle; without a listener Node would end the process. */
  readonly onConnectionError: (error: Error) => void;
  /** A statement of the pools has been answered, or has failed. */
  readonly onStatement?: (durationMs: number) => void;
}

export function openConnections(address: DatabaseAddress, options: ConnectionOptions): Connections {
  const main = openPool(address, { name: "main", applicationName: "runnel", size: options.poolSize }, options);
  const control = openPool(
    address,
    { name: "control", applicationName: "runnel control", size: controlPoolSize },
    options,
  );
  return {
    db: main.db,
    control: control.db,
    readPools: () => [main.read(), control.read()],
    connect: async (name, timeoutMs = statementTimeoutMs) => {
      const client = new pg.Client(clientConfig(address, `runnel ${name}`, timeoutMs));
      client.on("error", options.onConnectionError);
      giveUpWhenSilent(client);
      await client.connect();
      return client;
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
  address: DatabaseAddress,
  { name, applicationName, size }: { readonly name: string; readonly applicationName: string; readonly size: number },
  { onConnectionError, onStatement }: ConnectionOptions,
): Pool {
  const pool = new pg.Pool({
    ...clientConfig(address, applicationName, statementTimeoutMs),
    max: size,
    idleTimeoutMillis: 30_000,
  });
  pool.on("error", onConnectionError);
  pool.on("connect", prepareStatements);
  pool.on("connect", giveUpWhenSilent);
  // The pool listens to idle clients alone. One that breaks at work fails its statement; unheard it would end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
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

type Query = (text: unknown, values?: unknown, ...rest: unknown[]) => unknown;

/**
 * Gives a connection up that left a statement without an answer. Whoever swallowed one swallows the next as well; or is
 * still at work on it, and then the next would find itself in the middle of somebody else's transaction.
 */
function giveUpWhenSilent(client: pg.Client): void {
  const query = client.query.bind(client) as Query;
  const watched: Query = (...asked) => {
    const answer = query(...asked);
    if (answer instanceof Promise) {
      answer.catch((error: unknown) => {
        if (error instanceof Error && error.message === unanswered) {
          void client.end();
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

/**
 * True when Postgres or the way to it is in trouble: the same may succeed later. Whether the statement took effect is not
 * known. Everything else is an answer, or a defect of ours.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    return outageStates.test(error.code ?? "");
  }
  if (!(error instanceof Error)) {
    return false;
  }
  return ("code" in error && brokenSocket.test(String(error.code))) || brokenConnection.test(error.message);
}

// 08 connection · 25006 read only, after a failover · 25P03 idle in transaction · 40001, 40P01, 55P03 lost against another
// transaction · 53 no resources (disk, connections) · 57P the server ends · 57014 statement timeout.
const outageStates = /^(08...|25006|25P03|40001|40P01|53...|55P03|57P..|57014)$/;
const brokenSocket = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** What pg says of a connection that it has given up, or that it could not get in time; these carry no code. */
const brokenConnection =
  /^(Connection terminated|Query read timeout|timeout exceeded when trying to connect|timeout expired|Client (was closed|has encountered a connection error))|connect ENOENT /;

/** True when the error says that a key is taken; `constraint` names which. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code !== "23505") {
    return false;
  }
  return constraint === undefined || error.constraint === constraint;
}

/** False for a text that Postgres cannot hold, nor be asked for: no row has it. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0");
}

export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}

function clientConfig(address: DatabaseAddress, applicationName: string, timeoutMs: number): pg.ClientConfig {
  return {
    ...address,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
    types: { getTypeParser: typeParser },
    ...(timeoutMs > 0 && {
      statement_timeout: timeoutMs,
      // A server that does not even answer with an error is given up a little later, by this side.
      query_timeout: timeoutMs + 2_000,
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
