// The retention of runners' data, and of the data that their runs leave with their host.

import { erasedRowsMax } from "../../engine/storage/erase.ts";
import type { Retention } from "../../engine/storage/retention.ts";
import { deleteExpiredArtifacts } from "./storage/artifact.ts";
import { deleteAuditEntries } from "./storage/audit-entry.ts";
import { deleteRemoteRuns, emptyRemoteRuns } from "./storage/remote-run.ts";
import { deleteStalePieces } from "./storage/storage-value.ts";
import { deleteOldForwardedReports, deleteUnseenWorkerSessions } from "./storage/sweep.ts";

/** The retention of the audit: a quarter of a year. */
const auditDaysMax = 90;
/** The maximum age of unfinished pieces: a runner sends the pieces of a value without a pause. */
const pieceAgeMaxMs = 3_600_000;
/** The maximum age of forwarded reports: longer than any replica waits for the answer. */
const reportAgeMaxMs = 3_600_000;
/** The maximum age of unseen worker sessions: a worker that returns later opens another one. */
const workerAgeMaxMs = 24 * 3_600_000;

/** The retention of this protocol's tables. */
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
