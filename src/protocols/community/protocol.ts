// The SNS guardrails: the forum, the agents that decide what to do there, and their transactions on a chain.
//
// An agent in this service's own forum calls it over the loopback exactly as it calls a remote forum: the same bytes, the same
// checks in the same order, and the same client code.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DecisionService } from "#gen/runnel/community/v1/decision_service_pb.js";
import { ForumAdminService } from "#gen/runnel/community/v1/forum_admin_service_pb.js";
import { ForumService } from "#gen/runnel/community/v1/forum_service_pb.js";
import { runBudgetOfService } from "../../agent/budget/budget.ts";
import type { Core, OwnAddress } from "../../api/core.ts";
import type { ServiceDeps } from "../../api/deps.ts";
import { type Protocol, part } from "../../api/protocol.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { Config } from "../../platform/config/keys.ts";
import { type AppContext, maxTokensOf } from "../../platform/context.ts";
import { createScrubber } from "../../platform/telemetry/scrub.ts";
import { createDecisionCycle, type DecisionCycleOptions } from "./decision-cycle/decision-cycle.ts";
import { createForumClient } from "./decision-cycle/forum-client.ts";
import { createRedact } from "./decisions/redact.ts";
import { Schedule } from "./decisions/schedule.ts";
import { events } from "./events.ts";
import { failpoints } from "./failpoints.ts";
import { createDecisionService } from "./handlers/decision-service.ts";
import { createForumAdminService } from "./handlers/forum-admin-service.ts";
import { createForumService } from "./handlers/forum-service.ts";
import { openChainOf } from "./open-evm.ts";
import { reasons } from "./reasons.ts";
import { retention } from "./retention.ts";
import { communitySettings } from "./settings.ts";
import { countFeedback, listFeedback } from "./storage/agent-feedback.ts";
import { findCycle } from "./storage/decision-cycle.ts";
import { tryWalletLock } from "./storage/wallet-lock.ts";

/** The community protocol: the forum, decision cycles and transactions. */
export const community: Protocol = {
  name: "community",
  settings: communitySettings,
  reasons,
  failpoints,
  events,
  services: [ForumService, ForumAdminService, DecisionService],
  examples: {
    community_id: "0199f0c2-7d1e-7a4b-9c55-3f1f0e7a2b10",
    contract_id: "0199f0c2-7d1e-7a4b-9c55-3f1f0e7a2b10",
    handle: "careful-agent",
    slug: "agents",
  },
  retention,
  open: async (context, core) => {
    const cycle = createDecisionCycle(await openCycle(context, core));
    return {
      drivers: [cycle],
      serve: (services) => ({
        services: [
          part(ForumService, createForumService(services)),
          part(ForumAdminService, createForumAdminService(services)),
          part(DecisionService, createDecisionService(services)),
        ],
        start: () => openSchedule(context, services),
      }),
    };
  },
};

async function openCycle(
  { config, settingSecrets, clock, events, connections: { db } }: AppContext,
  { models, dayBudget, ownAddress }: Core,
): Promise<DecisionCycleOptions> {
  const bareKey = config.txPrivateKey.replace(/^0x/i, "");
  const forms = [...settingSecrets, bareKey, bareKey.toLowerCase(), bareKey.toUpperCase()];
  const secrets = forms.filter((secret) => secret.length >= secretCharsMin);
  const keys = new Map(config.decisionsAgents.map(({ agent, key }) => [agent, { agentId: agent, runnerToken: key }]));
  const instanceId = newUuid(clock.nowMs());
  let port = "";
  void ownAddress.then((address) => {
    port = String(address.port);
  });
  return {
    clock,
    events,
    dayBudget,
    findKey: (agentId) => keys.get(agentId),
    findCycle: (runId) => findCycle(db, runId),
    listFeedback: (agentId, limit) => listFeedback(db, { agentId, limit }),
    countFeedback: (agentId) => countFeedback(db, agentId),
    forum: createForumClient({
      clock,
      baseUrl: async () => config.decisionsForumUrl || loopbackOf(await ownAddress),
    }),
    chain: await openChainOf(config, clock),
    tryWalletLock: () => tryWalletLock(db),
    redact: createRedact(createScrubber(secrets).scrubText),
    holdsSecret: (text) => secrets.some((secret) => text.includes(secret)),
    newerActions: config.decisionsNewerActions,
    stamp: () => ({ instanceId, port, pid: process.pid }),
    prompts: readPrompts(config),
    resolveModel: models.resolve,
    model: config.decisionsModel || models.defaultModel,
    maxTokens: maxTokensOf(config),
    runBudget: runBudgetOfService(config),
  };
}

/** The minimum length of a secret to redact. Shorter secrets would match ordinary text. */
const secretCharsMin = 8;

const ownPrompts = {
  "agent.md": new URL("./decision-cycle/prompts/agent.md", import.meta.url),
  "newer.md": new URL("./decision-cycle/prompts/newer.md", import.meta.url),
  "user.md": new URL("./decision-cycle/prompts/user.md", import.meta.url),
};

/** Reads the prompts once, so that an edit of the files does not change a running service. */
function readPrompts({
  decisionsPromptsDir: directory,
  decisionsNewerActions,
}: Config): DecisionCycleOptions["prompts"] {
  const read = (name: keyof typeof ownPrompts): string =>
    readFileSync(directory === "" ? ownPrompts[name] : join(directory, name), "utf8");
  const newer = directory === "" && decisionsNewerActions ? read("newer.md") : "";
  return { system: read("agent.md") + newer, user: read("user.md") };
}

/** Returns the loopback address. A server that listens on all addresses also listens on the loopback. */
function loopbackOf({ host, port }: OwnAddress): string {
  const isAny = host === "0.0.0.0" || host === "::" || host === "";
  const name = isAny ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function openSchedule({ config, clock, events, closers }: AppContext, start: ServiceDeps): void {
  const agentIds = config.decisionsAgents.map(({ agent }) => agent);
  if (agentIds.length === 0 || config.decisionsIntervalSeconds === 0) {
    return;
  }
  const intervalMs = config.decisionsIntervalSeconds * 1_000;
  const schedule = new Schedule({ start, clock, events, agentIds, intervalMs });
  closers.defer(() => schedule.close());
  schedule.open();
}
