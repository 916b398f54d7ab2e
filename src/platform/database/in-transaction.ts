// Transactions in which a part may leave work for the time after the end: what others learn only after the commit, and what it
// has reserved.

import type { Db, Transaction } from "./database.ts";

/** Takes the end of a transaction. After a failed commit the outcome is unknown, which counts as not committed. */
type Ending = (isCommitted: boolean) => void;

const endings = new WeakMap<Transaction, Ending[]>();

/** Runs the work in a transaction, and then everything that the work has left with `whenEnded`, in that order. */
export async function inTransaction<T>(db: Db, work: (trx: Transaction) => Promise<T>): Promise<T> {
  const left: Ending[] = [];
  let isCommitted = false;
  try {
    const answer = await db.transaction().execute((trx) => {
      endings.set(trx, left);
      return work(trx);
    });
    isCommitted = true;
    return answer;
  } finally {
    for (const ending of left) {
      ending(isCommitted);
    }
  }
}

/** Leaves work for the time after the commit of a transaction of `inTransaction`: it is not done when the commit fails. */
export function afterCommit(trx: Transaction, work: () => void): void {
  whenEnded(trx, (isCommitted) => {
    if (isCommitted) {
      work();
    }
  });
}

/** Leaves work for the time after a transaction of `inTransaction`. Throws an Error for any other transaction. */
export function whenEnded(trx: Transaction, ending: Ending): void {
  const left = endings.get(trx);
  if (left === undefined) {
    throw new Error("the transaction was not begun by inTransaction");
  }
  left.push(ending);
}
