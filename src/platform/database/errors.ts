// Classifies the errors of `pg`, and waits until the database is back.

import pg from "pg";
import type { Clock } from "../base/clock.ts";

/**
 * Returns true when Postgres or the connection to it is in trouble: a later attempt may succeed. Whether the statement took
 * effect is unknown. Any other error is an answer, or a defect of Runnel.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof Error && unopened.has(error)) {
    return true;
  }
  if (error instanceof pg.DatabaseError) {
    return outageStates.test(error.code ?? "");
  }
  if (!(error instanceof Error)) {
    return false;
  }
  return ("code" in error && brokenSocket.test(String(error.code))) || brokenConnection.test(error.message);
}

/** Returns true when the statement lost against another transaction: a later attempt may succeed. It had no effect. */
export function isLostRace(error: unknown): boolean {
  return error instanceof pg.DatabaseError && lostRaceStates.test(error.code ?? "");
}

const lostRaceStates = /^(40001|40P01|55P03)$/;

/**
 * Errors of connections that did not open. A later attempt may succeed for any reason of them, such as a password that is just replaced or an
 * expired certificate: the start of the service reports what never works.
 */
const unopened = new WeakSet<Error>();

/** Takes the error of a connection that did not open. */
export function markUnopened(error: unknown): void {
  if (error instanceof Error) {
    unopened.add(error);
  }
}

// SQLSTATEs: 08 connection · 25006 read only, after a failover · 25P03 idle in transaction, 25P04 transaction timeout · 40001, 40P01,
// 55P03 lost against another transaction · 53 no resources (disk, connections) · 57P the server ends · 57014 statement timeout.
const outageStates = /^(08...|25006|25P0[34]|40001|40P01|53...|55P03|57P..|57014)$/;
const brokenSocket = /^(ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;
/** Messages of pg about a connection that it closed; these errors carry no code. */
const brokenConnection =
  /^(Connection terminated|Query read timeout|Client (was closed|has encountered a connection error)|the database server is a standby)/;

/** Returns true when no connection of a pool became free in time. */
export function isPoolBusy(error: unknown): boolean {
  return error instanceof Error && error.message === "timeout exceeded when trying to connect";
}

/** Returns what a caller reads about an outage. */
export function describeOutage(error: unknown): string {
  return isPoolBusy(error)
    ? "no database connection became free in time: the service is busy, or its database does not answer"
    : "the database is not reachable";
}

/** Options of a retry. */
export interface OutageOptions {
  readonly clock: Pick<Clock, "sleep">;
  /** Ends the wait: the next outage is thrown. */
  readonly signal?: AbortSignal;
  readonly onOutage?: (error: unknown) => void;
}

/**
 * Repeats `work` until the database answers. Throws any error that is not an outage, and the outage itself once the signal is
 * aborted. Work under a lease always ends: the lease expires during a long outage, and `work` or the signal reports it.
 */
export async function retryOutages<T>(work: () => Promise<T>, options: OutageOptions): Promise<T> {
  const { clock, signal, onOutage } = options;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isOutage(error) || signal?.aborted === true) {
        throw error;
      }
      onOutage?.(error);
      await clock.sleep(outageRetryMs, signal);
    }
  }
}

/** Short compared with a lease of seconds, and long compared with a round trip. */
const outageRetryMs = 100;

/** Returns true when Postgres answers, but has no space or no free connection, or refuses writes. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && refusalStates.test(error.code ?? "");
}

const refusalStates = /^(25006|53...)$/;

/** Returns true when a key is taken. `constraint` names a certain key. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code !== "23505") {
    return false;
  }
  return constraint === undefined || error.constraint === constraint;
}

/** Returns true when a statement waited too long for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "55P03";
}
