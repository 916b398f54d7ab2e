// LangBot's AgentRunner protocol v1: runners, their runs, and the host API.

import { file_runnel_host_v1_host_api } from "#gen/runnel/host/v1/host_api_pb.js";
import { file_runnel_runner_v1_agent_runner_service } from "#gen/runnel/runner/v1/agent_runner_service_pb.js";
import { KnowledgeService } from "#gen/runnel/runner/v1/knowledge_service_pb.js";
import { RunnerService } from "#gen/runnel/runner/v1/runner_service_pb.js";
import { RunnerWorkerService } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { type Protocol, part } from "../../api/protocol.ts";
import { failpoints } from "./failpoints.ts";
import { createHostServices, hostServices } from "./handlers/host-services.ts";
import { createKnowledgeService } from "./handlers/knowledge-service.ts";
import { offerAgents } from "./handlers/offered-agents.ts";
import { createResourceFinder } from "./handlers/resource-finder.ts";
import { createRunnerService } from "./handlers/runner-service.ts";
import { createRunnerWorkerService } from "./handlers/runner-worker-service.ts";
import { openHostRate } from "./host/rate.ts";
import { RunServers } from "./host/run-servers.ts";
import { reasons } from "./reasons.ts";
import { createRemoteRunner } from "./remote-runner/remote-runner.ts";
import { retention } from "./retention.ts";
import { createDialRun } from "./runners/dial-run.ts";
import { Forwarding } from "./runners/forwarding.ts";
import { Mailboxes } from "./runners/mailbox.ts";
import { createOpenRemoteRun } from "./runners/remote-run.ts";
import { langbotSettings } from "./settings.ts";

/** The maximum kept verdicts about repetitions of one run: more of them say nothing new. */
const repeatedVerdictsMax = 100;

/** The LangBot protocol, with its settings, services, retention and driver. */
export const langbot: Protocol = {
  name: "langbot",
  settings: langbotSettings,
  reasons,
  failpoints,
  services: [RunnerService, RunnerWorkerService, KnowledgeService, ...hostServices],
  examples: {
    bot_id: "bot-1",
    conversation_id: "group-42",
    file_key: "file-1",
    kb_id: "handbook",
    query: "How do I reset my password?",
    runner: "default",
    worker_id: "worker-1",
    worker_session_id: "0199f0c2-7d1e-7a4b-9c55-3f1f0e7a2b10",
  },
  files: [file_runnel_runner_v1_agent_runner_service, file_runnel_host_v1_host_api],
  retention,
  open: async ({ config, clock, events, connections: { db }, egress, closers }, { wakeup, runTokens }) => {
    const mailboxes = new Mailboxes();
    const forwarding = new Forwarding({ db, clock, wakeup, events, mailboxes });
    closers.defer(() => forwarding.close());
    forwarding.open();
    const limits = {
      resultsMax: config.runnersMaxResults,
      bytesMax: config.runnersMaxResultMb * 1024 * 1024,
      repeatedVerdictsMax,
    };
    const remoteRunner = createRemoteRunner({
      clock,
      mailboxes,
      openRun: createOpenRemoteRun({ db, clock, limits }),
      dial: createDialRun({ db, egress, runTokens, hostUrl: config.runnersHostUrl }),
      announceRoom: () => wakeup.publish({ topic: "offer", key: "", value: 0 }),
    });
    return {
      drivers: [remoteRunner],
      serve: (services) => {
        const resources = createResourceFinder(services);
        const hostRate = openHostRate(clock);
        const runServers = new RunServers({ ...services, idleMs: config.mcpIdleSecs * 1_000 });
        closers.defer(() => runServers.close());
        const runnerRunsMax = config.runnersMaxConcurrent;
        const deps = { ...services, mailboxes, forwarding, hostRate, runServers, runnerRunsMax };
        return {
          agents: offerAgents(services),
          services: [
            part(RunnerService, createRunnerService({ ...deps, resources })),
            part(RunnerWorkerService, createRunnerWorkerService(deps)),
            part(KnowledgeService, createKnowledgeService(deps)),
            ...createHostServices(deps),
          ],
        };
      },
    };
  },
};
