// Reads the stored hash chain of a run, from the block of its checkpoint on. Needed only to take a run over, to wake it, or to
// end it without owning it.

import type { Db, Transaction } from "../../platform/database/database.ts";
import { pageBytesMax } from "../../platform/database/row-page.ts";
import { LogChain, startOfChain } from "../hash-chain/chain.ts";
import { readChainBlock } from "../storage/checkpoint.ts";
import { readResultPage } from "../storage/run-result.ts";

const pageRowsMax = 1_000;

/**
 * Returns the chain of all durable entries. The caller has to keep other writers of the run away.
 * @throws ChainGap when entries are missing.
 */
export async function readStoredChain(db: Db | Transaction, runId: string): Promise<LogChain> {
  const chain = new LogChain((await readChainBlock(db, runId)) ?? startOfChain(runId));
  for (;;) {
    const page = await readResultPage(db, { runId, after: chain.count, rowsMax: pageRowsMax, bytesMax: pageBytesMax });
    chain.add(page.map(({ sequence, payload }) => ({ sequence, bytes: payload })));
    const bytes = page.reduce((sum, { payload }) => sum + payload.length, 0);
    if (page.length < pageRowsMax && bytes < pageBytesMax) {
      return chain;
    }
  }
}
