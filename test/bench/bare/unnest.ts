// Writes rows of the log with a bare statement: binary arrays through unnest over two connections, without a fence, a queue or
// a reader that waits for a row. This is the upper bound for the speed of writing these rows.

import type pg from "pg";
import { encodeResult } from "../../../src/engine/log/result.ts";
import { newUuid } from "../../../src/platform/base/ids.ts";
import { byteaArray, int4Array, int8Array, uuidArray } from "../../../src/platform/database/binary-array.ts";
import type { Variant } from "../bench.ts";
import type { OpenHome } from "../harness/home.ts";
import { measure } from "../harness/meter.ts";

/** The number of batch writers of the log, and its maximum number of rows a statement. */
const connections = 2;
const batchRows = 3_000;
/** The number of runs that write as fast as possible in the bench beside it. */
const runs = 64;

const insert = {
  name: "bare unnest",
  text: `insert into run_result (run_id, sequence, epoch, payload)
    select * from unnest($1::uuid[], $2::int8[], $3::int4[], $4::bytea[])`,
};

/** Writes at least this many rows. */
export async function measureBareUnnest(home: OpenHome, rows: number): Promise<Variant> {
  const open = await Promise.all(Array.from({ length: connections }, () => home.connect()));
  try {
    const batches = Math.ceil(rows / connections / batchRows);
    const { cost } = await measure({ postmasterPid: home.postmasterPid() }, () =>
      Promise.all(open.map((connection) => insertBatches(connection, batches))),
    );
    const results = batches * batchRows * connections;
    const metrics = {
      results,
      "results/s": results / cost.wall,
      "own CPU per result, µs": (1_000_000 * cost.client) / results,
      "Postgres CPU per result, µs": (1_000_000 * cost.postgres) / results,
    };
    return { name: "bare unnest", metrics, faults: [] };
  } finally {
    await Promise.all(open.map((connection) => connection.end()));
  }
}

async function insertBatches(connection: pg.Client, batches: number): Promise<void> {
  const runIds = Array.from({ length: runs / connections }, () => newUuid(Date.now()));
  const payloads = Array.from({ length: batchRows }, (_, index) => payloadAt(runIds[0] ?? "", index));
  for (let batch = 0; batch < batches; batch++) {
    const place = (index: number): number => batch * batchRows + index;
    const indexes = Array.from({ length: batchRows }, (_, index) => index);
    await connection.query({
      ...insert,
      values: [
        uuidArray(indexes.map((index) => runIds[place(index) % runIds.length] as string)),
        int8Array(indexes.map((index) => Math.floor(place(index) / runIds.length) + 1)),
        int4Array(indexes.map(() => 1)),
        byteaArray(payloads),
      ],
    });
  }
}

/** Payloads as long as those that the log writes. */
function payloadAt(runId: string, index: number): Uint8Array {
  const chunk = { role: "assistant", content: "some", msgSequence: index + 1 };
  const payload = { case: "messageDelta" as const, value: { chunk } };
  return encodeResult({ payload }, { runId, sequence: index + 1, timeMs: Date.now() }).bytes;
}
