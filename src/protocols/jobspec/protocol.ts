// The protocol of the Portal-Runner JobSpec contract: signed jobs, trusted keys, and the driver that asks a job's questions.

import { JobService } from "#gen/runnel/job/v1/job_service_pb.js";
import { TrustService } from "#gen/runnel/job/v1/trust_service_pb.js";
import { runBudgetOfService } from "../../agent/budget/budget.ts";
import { type Protocol, part } from "../../api/protocol.ts";
import type { Config } from "../../platform/config/keys.ts";
import { maxTokensOf } from "../../platform/context.ts";
import { benchmarkName, createBenchmark } from "./benchmark/benchmark.ts";
import { errorForms } from "./error-forms.ts";
import { events } from "./events.ts";
import { failpoints } from "./failpoints.ts";
import { createJobService } from "./handlers/job-service.ts";
import { createTrustService } from "./handlers/trust-service.ts";
import type { JobSettings } from "./jobs/submit.ts";
import { createOpenTask } from "./jobs/task.ts";
import { openTrust } from "./open-trust.ts";
import { reasons } from "./reasons.ts";
import { retention } from "./retention.ts";
import { jobspecSettings } from "./settings.ts";

/** The protocol of signed jobs. */
export const jobspec: Protocol = {
  name: "jobspec",
  settings: jobspecSettings,
  reasons,
  errorForms,
  failpoints,
  events,
  services: [JobService, TrustService],
  examples: {
    job_id: "0199f0c2-7d1e-7a4b-9c55-3f1f0e7a2b10",
  },
  retention,
  open: async (context, { models, dayBudget }) => {
    const { config, clock, events, connections } = context;
    const trust = openTrust(context);
    const jobs = jobSettings(config);
    const { policy, regions, driver: runner } = jobs;
    const servedRegions = config.jobsServedRegions.length === 0 ? regions : config.jobsServedRegions;
    const benchmark = createBenchmark({
      resolveModel: models.resolve,
      clock,
      events,
      dayBudget,
      defaults: {
        model: models.defaultModel,
        maxTokens: maxTokensOf(config),
        runBudget: runBudgetOfService(config),
      },
      openTask: createOpenTask({ db: connections.db, trust, policy, regions, servedRegions, runner }),
    });
    return {
      drivers: [benchmark],
      whyUnfit: () => trust.whyUnfit(),
      serve: (services) => {
        const deps = { ...services, trust, jobs };
        return { services: [part(JobService, createJobService(deps)), part(TrustService, createTrustService(deps))] };
      },
    };
  },
};

function jobSettings(config: Config): JobSettings {
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
