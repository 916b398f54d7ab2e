// A run of a runner, for the replica that works on it. It has the data frozen at the start and the results so far. The results
// may have come through this replica or through an earlier owner of the run.

import { decodeResult } from "../../../engine/log/result.ts";
import { readResultPage } from "../../../engine/storage/run-result.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Db } from "../../../platform/database/database.ts";
import { findRemoteRun } from "../storage/remote-run.ts";
import { listVerdicts } from "../storage/result-verdict.ts";
import { ArtifactIds } from "./artifact-ids.ts";
import type { Grant } from "./grant.ts";
import { Ingest, type IngestLimits } from "./results/ingest.ts";
import type { Disposition } from "./results/verdict.ts";
import type { RunScope } from "./scope.ts";

/** A run of a runner. */
export interface RemoteRun {
  readonly runId: string;
  /** 0 until a worker has accepted the run. A dialled run has attempt 1 from the start. */
  readonly attempt: number;
  /** True when the runner is dialled. */
  readonly isDialled: boolean;
  readonly scope: RunScope;
  readonly ingest: Ingest;
  readonly artifactIds: ArtifactIds;
}

/** Dependencies of `createOpenRemoteRun`. */
export interface OpenRemoteRunDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly limits: IngestLimits;
}

/** Creates the function that reads a run with everything that was logged of it. */
export function createOpenRemoteRun({ db, clock, limits }: OpenRemoteRunDeps): (runId: string) => Promise<RemoteRun> {
  return async (runId) => {
    const row = await findRemoteRun(db, runId);
    if (row === undefined) {
      throw new Error(`run ${runId} has no runner`);
    }
    // Only this service writes them, so their types are known.
    const scope = row.scope as RunScope;
    const grant = row.granted as Grant;
    const artifactIds = new ArtifactIds(db, { client: row.client, runId });
    const ingest = new Ingest({
      runId,
      scope,
      grant,
      limits,
      newArtifactId: () => newUuid(clock.nowMs()),
      stampApproval: () => {
        const createMs = clock.nowMs();
        return { approvalId: newUuid(createMs), createMs };
      },
      refuseArtifact: (artifact) => artifactIds.refuse(artifact),
    });
    await recall(db, runId, ingest);
    return { runId, attempt: row.attempt, isDialled: row.url !== null, scope, ingest, artifactIds };
  };
}

const pageRowsMax = 1_000;
const pageBytesMax = 4 * 1024 * 1024;

/** Recalls what earlier owners of the run have written. */
async function recall(db: Db, runId: string, ingest: Ingest): Promise<void> {
  let after = 0;
  for (;;) {
    const rows = await readResultPage(db, { runId, after, rowsMax: pageRowsMax, bytesMax: pageBytesMax });
    for (const { payload } of rows) {
      ingest.recallResult(decodeResult(payload), payload.length);
    }
    const last = rows.at(-1);
    if (last === undefined) {
      break;
    }
    after = last.sequence;
  }
  for (const verdict of await listVerdicts(db, runId)) {
    ingest.recallVerdict({
      ...verdict,
      sequence: BigInt(verdict.sequence),
      disposition: verdict.disposition as Disposition,
    });
  }
}
