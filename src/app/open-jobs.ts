// Signed jobs: what is accepted, and where it is run.

import type { Config } from "../platform/config/keys.ts";
import { benchmarkName } from "../protocols/jobspec/benchmark/benchmark.ts";
import type { JobSettings } from "../protocols/jobspec/jobs/submit.ts";
import { createOpenTask, type OpenJobTask } from "../protocols/jobspec/jobs/task.ts";
import type { Ground } from "./ground.ts";

export function jobSettings(config: Config): JobSettings {
  return {
    policy: {
      audience: config.trustAudience,
      enforcesTrust: config.trustEnforce,
      acceptDroppedEmptyStrings: config.trustAcceptDroppedEmptyStrings,
    },
    regions: config.jobsRegions,
    driver: benchmarkName,
  };
}

export function openJobTasks({ config, connections, trust }: Ground): OpenJobTask {
  const { policy, regions, driver: runner } = jobSettings(config);
  const servedRegions = config.jobsServedRegions.length === 0 ? regions : config.jobsServedRegions;
  return createOpenTask({ db: connections.db, trust, policy, regions, servedRegions, runner });
}
