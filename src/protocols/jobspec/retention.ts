// What of jobs and of the audit of keys is kept, and for how long.

import type { Retention } from "../../engine/storage/retention.ts";
import { nonceUseMs } from "./spec/metadata.ts";
import { deleteBareJobs } from "./storage/job.ts";
import { deleteJobNoncesOlderThan } from "./storage/job-nonce.ts";
import { deleteSurplusRefusals, deleteTrustEvents } from "./storage/trust-event.ts";

/** Five minutes longer than a JobSpec is good: a clock that jumped is set by then. */
const nonceAgeMaxMs = nonceUseMs + 5 * 60_000;
/** A quarter of a year. */
const trustEventDaysMax = 90;
/** About 50 MB. */
const refusalsMax = 100_000;

export const retention: Retention = {
  expiring: [
    { name: "jobs", days: 1, deleteBatch: deleteBareJobs },
    {
      name: "job nonces",
      deleteBatch: async (db) => {
        await deleteJobNoncesOlderThan(db, nonceAgeMaxMs);
        return 0;
      },
    },
    { name: "audit", days: trustEventDaysMax, deleteBatch: deleteTrustEvents },
    {
      name: "audit of refusals",
      deleteBatch: (db, { limit }) => deleteSurplusRefusals(db, { kept: refusalsMax, limit }),
    },
  ],
};
