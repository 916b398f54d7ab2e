// Connections to Postgres: a pool for queries, and single connections for parts that need their own (a batch writer of the log,
// LISTEN). Every connection has time limits, so that a frozen database never blocks a caller forever.

import { type Kysely as Database, Kysely, type Transaction as KyselyTransaction, PostgresDialect } from "kysely";
import pg from "pg";
import { systemClock } from "../base/clock.ts";
import type { PoolFigures } from "../telemetry/metrics/sources.ts";
import { isPoolBusy, isRefusal, markUnopened } from "./errors.ts";
import type { Schema } from "./schema.ts";

/** The query builder over all tables. */
export type Db = Database<Schema>;
/** A query builder inside a transaction. */
export type Transaction = KyselyTransaction<Schema>;
/** A single connection outside the pool. */
export type Connection = pg.Client;

/** The address of Postgres: a URL, or the parts of a login (a socket directory counts as host). */
export type DatabaseAddress =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

/** The open connections of a process. */
export interface Connections {
  readonly db: Db;
  /**
   * A small pool for the statements that keep this replica alive (lease, takeover, cancels). They never queue behind callers.
   */
  readonly control: Db;
  /** Opens a single connection. The caller ends it. */
  connect(name: string, limits?: TimeLimits): Promise<Connection>;
  /** Opens a connection whose statements may take hours, as those of migrations of large tables do. The caller closes it. */
  openPatient(): { readonly db: Db; close(): Promise<void> };
  /** Calls back whenever Postgres refuses a connection or lacks the resources for a statement. */
  watchRefusals(onRefused: () => void): void;
  readPools(): readonly PoolFigures[];
  close(): Promise<void>;
}

/** The maximum times of a connection, in milliseconds; 0 means no limit. */
export interface TimeLimits {
  /** For connecting; in a pool also for waiting until a connection is free. */
  readonly connectMs: number;
  /** Postgres itself cancels a statement after this. */
  readonly statementMs: number;
  /** The client side gives up after this when the server does not even answer with an error. */
  readonly answerMs: number;
}

/** The limits of ordinary statements. A statement takes longer only when Postgres is in trouble. */
const usualLimits: TimeLimits = { connectMs: 5_000, statementMs: 10_000, answerMs: 12_000 };
/**
 * The limits of small statements that look after runs. A hanging statement is soon retried: a lease must be renewed within 5 s.
 */
const controlLimits: TimeLimits = { connectMs: 3_000, statementMs: 3_000, answerMs: 4_000 };
/** The limits of a connection that listens: it is silent on purpose. */
export const listenLimits: TimeLimits = { connectMs: 5_000, statementMs: 0, answerMs: 0 };
const patientLimits: TimeLimits = { connectMs: 5_000, statementMs: 0, answerMs: 0 };
/** A transaction of Runnel never waits for anything but Postgres. */
const idleInTransactionTimeoutMs = 10_000;
/** A duplicate create request waits this long for the first one to commit. */
const lockTimeoutMs = 5_000;
/** The idle time before a TCP keepalive probe. The system's default of two hours is too long. */
const probeAfterMs = 20_000;
/** The maximum wait for the other side to close as well. A dead connection never closes by itself. */
const goodbyeTimeoutMs = 1_000;
/** One connection each for the lease, claims, cancels and the reaper, so that a hanging one delays no other. */
const controlPoolSize = 4;

/** Options of the connections. */
export interface ConnectionOptions {
  readonly poolSize: number;
  /** Receives the errors of idle connections; without a listener, Node would end the process. */
  readonly onConnectionError: (error: Error) => void;
  /** For those who only look at a server. */
  readonly acceptsStandby?: boolean;
  /** Called after each statement of the pools, answered or failed. */
  readonly onStatement?: (durationMs: number) => void;
}

/** Opens the pools. They connect on their first statement. */
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
      const client = new PrimaryClient(configure(address, `runnel ${name}`, limits));
      client.on("error", options.onConnectionError);
      watchAnswers(client, onRefused);
      await client.connect().catch(refused(onRefused));
      return client;
    },
    openPatient: () => {
      const { db } = openPool(
        { name: "patient", size: 1 },
        configure(address, "runnel patient", patientLimits),
        watched,
      );
      return { db, close: () => db.destroy() };
    },
    watchRefusals: (listener) => {
      listeners.add(listener);
    },
    close: async () => {
      await Promise.all([main.db.destroy(), control.db.destroy()]);
    },
  };
}

/** The options of a connection, and the settings that its session begins with. */
interface SessionConfig extends pg.ClientConfig {
  readonly settings: Readonly<Record<string, string>>;
}

/** A part of pg that its types leave out: what a connection sends when it begins. */
interface Startup {
  getStartupConf(): Record<string, string>;
}

/** A connection with settings of its own, which those of the URL, the login and the database do not replace. */
class SessionClient extends pg.Client {
  readonly #settings: SessionConfig["settings"];

  constructor(config?: SessionConfig) {
    super(config);
    this.#settings = config?.settings ?? {};
  }

  getStartupConf(): Record<string, string> {
    const asked = (pg.Client.prototype as unknown as Startup).getStartupConf.call(this);
    return { ...asked, ...this.#settings };
  }
}

/**
 * A connection to a server that takes writes. A primary that was cut off comes back as a standby, with rows that no other server
 * has. A router may lead there until it notices: a reader would receive results that are lost a second later.
 */
class PrimaryClient extends SessionClient {
  constructor(config?: SessionConfig) {
    super(config);
    this.connection.on("parameterStatus", ({ parameterName, parameterValue }: ParameterStatus) => {
      if (parameterName === "in_hot_standby" && parameterValue === "on") {
        this.connection.stream.destroy(new Error("the database server is a standby: it takes no writes"));
      }
    });
  }
}

/** What a server says of itself when a connection begins. */
interface ParameterStatus {
  readonly parameterName: string;
  readonly parameterValue: string;
}

interface Pool {
  readonly db: Db;
  readonly read: () => PoolFigures;
}

function openPool(
  { name, size }: { readonly name: string; readonly size: number },
  config: SessionConfig,
  {
    onConnectionError,
    onStatement,
    onRefused,
    acceptsStandby = false,
  }: ConnectionOptions & { readonly onRefused: () => void },
): Pool {
  const Client = acceptsStandby ? SessionClient : PrimaryClient;
  const pool = new pg.Pool({ ...config, Client, min: 1, max: size, idleTimeoutMillis: 30_000 });
  pool.on("error", onConnectionError);
  pool.on("connect", prepareStatements);
  pool.on("connect", (client) => watchAnswers(client, onRefused, onStatement));
  // The pool listens to idle clients only. A connection that breaks during a statement fails that statement; without this
  // listener it would also end the process.
  pool.on("connect", (client) => client.on("error", () => {}));
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({
      pool: {
        connect: () => pool.connect().catch(refused(onRefused)),
        end: () => pool.end(),
        options: pool.options,
      },
    }),
  });
  const read = (): PoolFigures => ({
    name,
    size,
    inUse: pool.totalCount - pool.idleCount,
    // Every caller queues for a moment, even when a connection is free or may be opened.
    waiting: Math.max(0, pool.waitingCount - pool.idleCount - (size - pool.totalCount)),
  });
  return { db, read };
}

/** Reports a refused connection and rethrows its error. A busy pool is no refusal by Postgres. */
function refused(onRefused: () => void): (error: unknown) => never {
  return (error) => {
    markUnopened(error);
    if (!isPoolBusy(error)) {
      onRefused();
    }
    throw error;
  };
}

type Query = (text: unknown, values?: unknown, ...rest: unknown[]) => unknown;

/**
 * Closes a connection that left a statement unanswered, and reports refusals. Such a connection would also swallow the next
 * statement. Or it still works on the old one, and the next statement would run inside another caller's transaction.
 *
 * Reports the time of each statement, and neither its text nor its values. Kysely's own log would cost six promises a statement.
 */
function watchAnswers(client: pg.Client, onRefused: () => void, onStatement?: (durationMs: number) => void): void {
  const query = client.query.bind(client) as Query;
  const watched: Query = (...asked) => {
    const startedMs = performance.now();
    const answer = query(...asked);
    if (answer instanceof Promise) {
      const finish = (): void => onStatement?.(performance.now() - startedMs);
      answer.then(finish, (error: unknown) => {
        finish();
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

/** The error message of pg when a statement got no answer in time. */
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
  // Pools pass a callback.
  client.end = ((onEnd?: (error?: Error) => void) => {
    const ending = endInTime();
    if (onEnd === undefined) {
      return ending;
    }
    ending.then(() => onEnd(), onEnd);
    return undefined;
  }) as typeof client.end;
}

/** The maximum number of prepared statement texts. Our own code has about 400, and lists of values multiply some. */
const preparedTextsMax = 500;
const preparedNames = new Map<string, string>();

/**
 * Makes a connection reuse the plans of repeated statements: Kysely's statements carry no name. All queries list their columns,
 * since a cached plan with a star fails when a newer version adds a column.
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

/** Returns false for a text that Postgres can neither store nor search for: it contains U+0000. */
export function isStorableText(text: string): boolean {
  return !text.includes("\0");
}

/** Returns a text without U+0000, for columns that searches read: the original text is elsewhere. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "");
}

/**
 * What statements, transactions and values rely on. A login or a database may have other defaults, with which times are read as null
 * and a transaction does not see what its lock has waited for.
 */
const sessionSettings = {
  DateStyle: "ISO",
  default_transaction_isolation: "read committed",
  standard_conforming_strings: "on",
  // The server's own probes: after the death of a machine, whose sessions close by nothing else, it ends them and their locks within 35 s.
  tcp_keepalives_idle: String(probeAfterMs / 1_000),
  tcp_keepalives_interval: "5",
  tcp_keepalives_count: "3",
};

/**
 * Ways to ask for a checked certificate: pg takes these modes of libpq for `verify-full`, and would print a warning among the log lines. The
 * system's certificates are those that Node trusts.
 */
const checkedModes = /([?&])(?:sslmode=(?:prefer|require|verify-ca)|sslrootcert=system)(?=&|$)/g;

function readAddress(address: DatabaseAddress): pg.ClientConfig {
  if (!("connectionString" in address)) {
    // Only a URL has its own answer to PGSSLMODE.
    return { ...address, ssl: false };
  }
  const { connectionString: url } = address;
  const isOfLibpq = /[?&]uselibpqcompat=true(?:&|$)/.test(url);
  return { connectionString: isOfLibpq ? url : url.replace(checkedModes, "$1sslmode=verify-full") };
}

function configure(
  address: DatabaseAddress,
  applicationName: string,
  { connectMs, statementMs, answerMs }: TimeLimits,
): SessionConfig {
  const isLimited = statementMs > 0;
  return {
    ...readAddress(address),
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: probeAfterMs,
    types: { getTypeParser: typeParser },
    ...(isLimited && { query_timeout: answerMs }),
    settings: {
      ...sessionSettings,
      application_name: applicationName,
      statement_timeout: String(statementMs),
      idle_in_transaction_session_timeout: String(isLimited ? idleInTransactionTimeoutMs : 0),
      lock_timeout: String(isLimited ? lockTimeoutMs : 0),
    },
  };
}

/** Reads int8 as a number: our 64-bit columns are sequences and counts, which stay far below 2^53. */
const typeParser = ((oid: number, format?: "text" | "binary") =>
  oid === pg.types.builtins.INT8
    ? Number
    : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser;
