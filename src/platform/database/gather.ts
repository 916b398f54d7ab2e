// Gathers the same statement of concurrent callers into one statement with one commit, as a group commit does. One statement is
// in flight at a time; calls that arrive meanwhile form the next one. Needs no timer: a call that arrives while nothing is in
// flight leaves at once.
//
// G1  Every call is in exactly one statement, in the order of arrival, unless Postgres refused that statement as a whole.
// G2  When Postgres refuses a statement of several calls, or the statement loses against another transaction, each call gets a
//     statement of its own: a bad call fails alone.
// G3  An outage fails all calls of its statement, because the outcome is unknown.

import type { Db, Transaction } from "./database.ts";
import { isLostRace, isOutage } from "./errors.ts";

/** Runs one statement for all items. Returns the outcome of each item, in the order of the items. */
export type RunMany<Item, Outcome> = (db: Db | Transaction, items: readonly Item[]) => Promise<readonly Outcome[]>;

/** The usual maximum number of calls in a statement. It bounds the statement and the locks that it holds. */
const callsMaxUsual = 250;

/**
 * Returns a function that gathers concurrent calls on the same database. A call in a transaction gets a statement of its own.
 * `callsMax` is the maximum number of calls in a statement.
 *
 *     const findThing = gathered(async (db, ids: readonly string[]) => …);
 *     await Promise.all([findThing(db, "a"), findThing(db, "b")]); // one statement
 */
export function gathered<Item, Outcome>(
  runMany: RunMany<Item, Outcome>,
  callsMax: number = callsMaxUsual,
): (db: Db | Transaction, item: Item) => Promise<Outcome> {
  const gatherers = new WeakMap<Db, Gatherer<Item, Outcome>>();
  return async (db, item) => {
    if (db.isTransaction) {
      return await runOne(runMany, db, item);
    }
    let gatherer = gatherers.get(db);
    if (gatherer === undefined) {
      gatherer = new Gatherer(db, runMany, callsMax);
      gatherers.set(db, gatherer);
    }
    return await gatherer.submit(item);
  };
}

async function runOne<Item, Outcome>(
  runMany: RunMany<Item, Outcome>,
  db: Db | Transaction,
  item: Item,
): Promise<Outcome> {
  const [outcome] = await runMany(db, [item]);
  return outcome as Outcome;
}

interface Call<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome | Promise<Outcome>) => void;
  readonly reject: (error: unknown) => void;
}

class Gatherer<Item, Outcome> {
  readonly #db: Db;
  readonly #runMany: RunMany<Item, Outcome>;
  readonly #callsMax: number;
  #waiting: Call<Item, Outcome>[] = [];
  #isRunning = false;

  constructor(db: Db, runMany: RunMany<Item, Outcome>, callsMax: number) {
    this.#db = db;
    this.#runMany = runMany;
    this.#callsMax = callsMax;
  }

  submit(item: Item): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#waiting.push({ item, resolve, reject });
    if (!this.#isRunning) {
      this.#isRunning = true;
      // Calls that are made together share the first statement. A longer wait would delay a lone request at each statement.
      queueMicrotask(() => void this.#runAll());
    }
    return promise;
  }

  async #runAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.slice(0, this.#callsMax);
      this.#waiting = this.#waiting.slice(this.#callsMax);
      await this.#run(calls);
    }
    this.#isRunning = false;
  }

  async #run(calls: readonly Call<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.#runMany(
        this.#db,
        calls.map(({ item }) => item),
      );
      for (const [index, { resolve }] of calls.entries()) {
        resolve(outcomes[index] as Outcome);
      }
    } catch (error) {
      for (const { item, resolve, reject } of calls) {
        if (calls.length === 1 || (isOutage(error) && !isLostRace(error))) {
          reject(error);
        } else {
          resolve(runOne(this.#runMany, this.#db, item));
        }
      }
    }
  }
}
