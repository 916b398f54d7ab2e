// The hash chain of a run that is not in memory: from its checkpoint's block on, as it is stored. Only who takes a run over,
// wakes it, or ends it without owning it has to read it.

import type { Db, Transaction } from "../../platform/database/database.ts";
import { LogChain, startOfChain } from "../hash-chain/chain.ts";
import { readChainBlock } from "../storage/checkpoint.ts";
import { readResultPage } from "../storage/run-result.ts";

const pageRowsMax = 1_000;
const pageBytesMax = 1_048_576;

/** Covers what is durable. Whoever may still be writing has to be kept from it by the caller. */
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
