// Dependencies of the handlers of jobs and trusted keys.

import type { ServiceDeps } from "../../../api/deps.ts";
import type { SubmitDeps } from "../jobs/submit.ts";

/** Dependencies of the handlers of jobs and trusted keys. */
export interface JobDeps extends ServiceDeps, Pick<SubmitDeps, "trust" | "jobs"> {}
