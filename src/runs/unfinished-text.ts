// What a run has said since its last checkpoint, read from the log: the output of a run that did not complete.

import { decodeResult } from "../runlog/result.ts";
import { readCheckpoint } from "../storage/checkpoint.ts";
import type { Transaction } from "../storage/database.ts";
import { readResults } from "../storage/run-result.ts";

const pageRows = 500;
/** More than a model says in a turn; the log has the rest. */
const textCharsMax = 1_000_000;

export async function readUnfinishedText(trx: Transaction, runId: string): Promise<string> {
  let after = (await readCheckpoint(trx, runId))?.sequence ?? 0;
  let text = "";
  for (;;) {
    const page = await readResults(trx, { runId, after, limit: pageRows });
    for (const { payload } of page) text = addText(text, decodeResult(payload).payload);
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows || text.length >= textCharsMax) return text;
    after = last.sequence;
  }
}

function addText(text: string, payload: ReturnType<typeof decodeResult>["payload"]): string {
  if (payload.case === "turnRestarted") return "";
  return payload.case === "messageDelta" ? text + (payload.value.chunk?.content ?? "") : text;
}
