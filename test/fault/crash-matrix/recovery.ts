// How long a run stood still after a death, by the times in its results. Those follow the database's clock, which is this
// machine's, even when the clocks of the processes are wrong.

import { fromBinary } from "@bufbuild/protobuf";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { query } from "../../harness/database.ts";

export interface Recovery {
  /** The number of results at the last death. */
  readonly resultsBefore?: number;
  /** From the last death to the next result, and to the terminal result; absent when the run had already ended. */
  readonly nextResultMs?: number;
  readonly terminalMs?: number;
}

export async function measureRecovery(databaseUrl: string, runId: string, diedAtMs: number): Promise<Recovery> {
  const rows = await query<{ payload: Buffer }>(
    databaseUrl,
    "select payload from run_result where run_id = $1 order by sequence",
    [runId],
  );
  const sinceDeath = rows.map(({ payload }) => timeOf(fromBinary(RunResultSchema, payload)) - diedAtMs);
  const [nextResultMs, ...more] = sinceDeath.filter((ms) => ms > 0);
  const resultsBefore = sinceDeath.filter((ms) => ms <= 0).length;
  return {
    resultsBefore,
    ...(nextResultMs !== undefined && { nextResultMs, terminalMs: more.at(-1) ?? nextResultMs }),
  };
}

export function timeOf({ createTime }: RunResult): number {
  return Number(createTime?.seconds ?? 0) * 1_000 + (createTime?.nanos ?? 0) / 1_000_000;
}
