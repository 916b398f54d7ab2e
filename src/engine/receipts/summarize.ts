// Summarizes a log for its receipt, in one reading from the first entry to the last.

import { type ChainEntry, LogChain, startOfChain } from "../hash-chain/chain.ts";
import { readEntryType } from "../hash-chain/entry-type.ts";
import { MarkList, markIntervalOf } from "../hash-chain/marks.ts";
import type { LogSummary } from "./statement.ts";

/**
 * Summarizes the pages of a log, which come in order. Returns undefined for a log without entries.
 * @throws ChainGap when entries are missing.
 */
export async function summarizeLog(
  runId: string,
  pages: AsyncIterable<readonly ChainEntry[]>,
): Promise<LogSummary | undefined> {
  const chain = new LogChain(startOfChain(runId));
  const marks = new MarkList();
  const counts = new Map<string, number>();
  let firstHash: string | undefined;
  for await (const page of pages) {
    for (const entry of page) {
      chain.add([entry]);
      marks.note(chain);
      firstHash ??= hexOf(chain.value);
      const type = readEntryType(entry.bytes);
      counts.set(type, (counts.get(type) ?? 0) + 1);
    }
  }
  return firstHash === undefined
    ? undefined
    : {
        entries: chain.count,
        first_hash: firstHash,
        last_hash: hexOf(chain.value),
        counts: Object.fromEntries(counts),
        mark_interval: markIntervalOf(chain.count),
        marks: marks.finish(chain).toString("base64"),
      };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
