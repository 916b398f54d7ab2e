// Counts what readers received against the log that is left, without the service: a defect cannot hide itself.

import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { isTerminal } from "../fault/invariants.ts";
import type { LogReader } from "../fault/log-reader.ts";
import { query } from "../harness/database.ts";

export interface Tally {
  /** All runs of the database. */
  readonly runs: number;
  /** The results that readers received over gRPC. */
  readonly results: number;
  /** Received results that the log lacks, or has with other bytes. */
  readonly lost: number;
  /** Results that a reader received again. */
  readonly twice: number;
  /** Runs with more than one terminal result. */
  readonly doubleEnds: number;
  readonly restarts: number;
}

export async function tally(databaseUrl: string, readers: readonly LogReader[]): Promise<Tally> {
  const runs = await query(databaseUrl, "select 1 from run");
  const logs = await readLogs(databaseUrl);
  const received = readers.flatMap(({ runId, results }) => results.map((result) => ({ runId, result })));
  const isLost = ({ runId, result }: (typeof received)[0]): boolean =>
    logs.get(runId)?.get(Number(result.sequence)) !== Buffer.from(toBinary(RunResultSchema, result)).toString("hex");
  const distinct = new Set(received.map(({ runId, result }) => `${runId} ${result.sequence}`));
  return {
    runs: runs.length,
    results: received.length,
    lost: received.filter(isLost).length,
    twice: received.length - distinct.size,
    doubleEnds: [...logs.values()].filter((log) => [...log.values()].filter(endsRun).length > 1).length,
    restarts: received.filter(({ result }) => result.payload.case === "turnRestarted").length,
  };
}

/** Returns the payloads in hex, by run and sequence. */
async function readLogs(databaseUrl: string): Promise<Map<string, Map<number, string>>> {
  const logs = new Map<string, Map<number, string>>();
  const rows = await query<{ runId: string; sequence: number; payload: Buffer }>(
    databaseUrl,
    'select run_id as "runId", sequence::int, payload from run_result',
  );
  for (const { runId, sequence, payload } of rows) {
    const log = logs.get(runId) ?? new Map<number, string>();
    logs.set(runId, log.set(sequence, payload.toString("hex")));
  }
  return logs;
}

function endsRun(hex: string): boolean {
  return isTerminal(fromBinary(RunResultSchema, Buffer.from(hex, "hex")) satisfies RunResult);
}
