// Compares the acknowledged reports of workers with the log.

import { fromBinary } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { ResultDisposition } from "#gen/runnel/runner/v1/runner_service_pb.js";
import type { ReportResultsResponse } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { query } from "../../harness/database.ts";
import { HandWorker } from "../../runners/hand-worker.ts";

/** The runner's sequences that were acknowledged. */
export class Acknowledged {
  readonly #numbers = new Set<number>();

  get numbers(): readonly number[] {
    return [...this.#numbers].sort((a, b) => a - b);
  }

  note<T extends Pick<ReportResultsResponse, "verdicts">>(response: T): T {
    for (const { sequence, disposition } of response.verdicts) {
      if (disposition === ResultDisposition.APPLIED || disposition === ResultDisposition.DROPPED_DUPLICATE) {
        this.#numbers.add(Number(sequence));
      }
    }
    return response;
  }
}

/** The runner's sequences in a run's log, in the log's order. */
export async function loggedNumbers(databaseUrl: string, runId: string): Promise<number[]> {
  const rows = await query<{ payload: Buffer }>(
    databaseUrl,
    "select payload from run_result where run_id = $1 order by sequence",
    [runId],
  );
  return rows
    .map(({ payload }) => Number(fromBinary(RunResultSchema, payload).runnerSequence))
    .filter((number) => number !== 0);
}

/** Fails unless each acknowledged sequence is in the log, and none is there twice. */
export async function expectLogged(databaseUrl: string, runId: string, acknowledged: Acknowledged): Promise<void> {
  const logged = await loggedNumbers(databaseUrl, runId);
  expect(logged).toEqual([...new Set(logged)]);
  expect(acknowledged.numbers.filter((number) => !logged.includes(number))).toEqual([]);
}

/** The same worker process at another replica. */
export function workerAt(worker: HandWorker, target: string): HandWorker {
  const other = new HandWorker(target);
  other.session = worker.session;
  return other;
}

/** Expires all open offers now; without acceptance they would expire after 10 s. */
export async function endOffers(databaseUrl: string): Promise<void> {
  await query(databaseUrl, "update remote_run set offer_until = now() where attempt = 0 and offer_until > now()");
}
