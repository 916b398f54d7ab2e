// What the handlers of jobs and trusted keys work with.

import type { ServiceDeps } from "../../../api/deps.ts";
import type { SubmitDeps } from "../jobs/submit.ts";

export interface JobDeps extends ServiceDeps, Pick<SubmitDeps, "trust" | "jobs"> {}
