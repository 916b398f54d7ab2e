// Lengthens the log of an ended run: its text result is repeated many times. It writes into the tables directly, because no
// model produces as much in the time of a test.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { LogChain, startOfChain } from "../../../src/engine/hash-chain/chain.ts";
import { query } from "../../harness/database.ts";

const rowsAtOnce = 5_000;

/** The run then has `count` results; all except the first and the last contain `text`. */
export async function lengthenLog(
  databaseUrl: string,
  runId: string,
  { count, text }: { readonly count: number; readonly text: string },
): Promise<void> {
  const stored = await query<{ payload: Buffer; epoch: number }>(
    databaseUrl,
    "select payload, epoch from run_result where run_id = $1 order by sequence",
    [runId],
  );
  const results = stored.map(({ payload }) => fromBinary(RunResultSchema, payload));
  const [first, last] = [results[0], results.at(-1)];
  if (first === undefined || last === undefined) {
    throw new Error(`run ${runId} has no results`);
  }
  await query(databaseUrl, "delete from run_result where run_id = $1", [runId]);
  const chain = new LogChain(startOfChain(runId));
  for (let from = 1; from <= count; from += rowsAtOnce) {
    const sequences = Array.from({ length: Math.min(rowsAtOnce, count - from + 1) }, (_, index) => from + index);
    const payloads = sequences.map((sequence) =>
      encode(sequence === 1 ? first : sequence === count ? last : speech(first, text), sequence),
    );
    chain.add(payloads.map((bytes, index) => ({ sequence: from + index, bytes })));
    await query(
      databaseUrl,
      `insert into run_result (run_id, sequence, epoch, payload)
        select $1, sequence, $2, payload from unnest($3::int8[], $4::bytea[]) as made (sequence, payload)`,
      [runId, stored[0]?.epoch, sequences, payloads],
    );
  }
  await query(databaseUrl, "update run set last_sequence = $2, terminal = $3, log_hash = $4 where id = $1", [
    runId,
    count,
    encode(last, count),
    Buffer.from(chain.value),
  ]);
}

function speech({ runId, createTime }: RunResult, content: string): RunResult {
  return create(RunResultSchema, {
    runId,
    ...(createTime && { createTime }),
    payload: { case: "messageDelta", value: { chunk: { content } } },
  });
}

function encode(result: RunResult, sequence: number): Buffer {
  return Buffer.from(toBinary(RunResultSchema, { ...result, sequence: BigInt(sequence) }));
}
