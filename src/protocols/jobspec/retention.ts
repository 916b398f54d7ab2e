// The retention of jobs, nonces and the trust audit.

import type { Retention } from "../../engine/storage/retention.ts";
import { deleteBareJobs } from "./storage/job.ts";
import { deleteJobNoncesOlderThan } from "./storage/job-nonce.ts";
import { deleteSurplusRefusals, deleteTrustEvents } from "./storage/trust-event.ts";
import { nonceUseMs } from "./verification/metadata.ts";

/** Five minutes longer than a JobSpec may be used: enough to correct a clock that jumped. */
const nonceAgeMaxMs = nonceUseMs + 5 * 60_000;
/** A quarter of a year. */
const trustEventDaysMax = 90;
/** The maximum number of refusals: about 50 MB. */
const refusalsMax = 100_000;

/** The rows of this protocol that expire. */
export const retention: Retention = {
  expiring: [
    // A younger job still has the sessions of its runs.
    { name: "jobs", days: "logs", deleteBatch: deleteBareJobs },
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
