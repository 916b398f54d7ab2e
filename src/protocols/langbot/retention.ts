// What is kept of runners and of what their runs have left with their host, and for how long.

import { erasedRowsMax } from "../../engine/storage/erase.ts";
import type { Retention } from "../../engine/storage/retention.ts";
import { deleteExpiredArtifacts } from "./storage/artifact.ts";
import { deleteAuditEntries } from "./storage/audit-entry.ts";
import { deleteRemoteRuns, emptyRemoteRuns } from "./storage/remote-run.ts";
import { deleteStalePieces } from "./storage/storage-value.ts";
import { deleteOldForwardedReports, deleteUnseenWorkerSessions } from "./storage/sweep.ts";

/** A quarter of a year. */
const auditDaysMax = 90;
/** A runner sends the pieces of a value without a pause. */
const pieceAgeMaxMs = 3_600_000;
/** Longer than any replica waits for the answer. */
const reportAgeMaxMs = 3_600_000;
/** A worker that comes back later opens another session. */
const workerAgeMaxMs = 24 * 3_600_000;

export const retention: Retention = {
  expiring: [
    { name: "host audit", days: auditDaysMax, deleteBatch: deleteAuditEntries },
    { name: "artifacts", deleteBatch: deleteExpiredArtifacts },
    { name: "pieces", deleteBatch: (db, { limit }) => deleteStalePieces(db, { ageMs: pieceAgeMaxMs, limit }) },
    {
      name: "workers",
      deleteBatch: (db, { limit }) => deleteUnseenWorkerSessions(db, { ageMs: workerAgeMaxMs, limit }),
    },
    {
      name: "reports",
      deleteBatch: (db, { limit }) => deleteOldForwardedReports(db, { ageMs: reportAgeMaxMs, limit }),
    },
  ],
  deleteOfRuns: (db, runs) => deleteRemoteRuns(db, { runs, rowsMax: erasedRowsMax }),
  purgeRuns: emptyRemoteRuns,
};
