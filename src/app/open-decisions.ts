// What decision cycles work with.
//
// An agent whose community is this service's own forum talks to it over the loopback like one of anybody else's: the same bytes,
// the same checks in the same order, and one client that is proved for both.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Wakeup } from "../engine/log/wakeup.ts";
import { runBudgetOfService } from "../engine/runs/budget.ts";
import type { Dispatcher } from "../engine/runs/dispatch.ts";
import { newUuid } from "../platform/base/ids.ts";
import type { Config } from "../platform/config/keys.ts";
import { secretsOf } from "../platform/config/secrets.ts";
import { createScrubber } from "../platform/telemetry/scrub.ts";
import type { DecisionCycleOptions } from "../protocols/community/decision-cycle/decision-cycle.ts";
import { createForumClient } from "../protocols/community/decision-cycle/forum-client.ts";
import { createRedact } from "../protocols/community/decisions/redact.ts";
import { Schedule } from "../protocols/community/decisions/schedule.ts";
import { countFeedback, listFeedback } from "../protocols/community/storage/agent-feedback.ts";
import { findCycle } from "../protocols/community/storage/decision-cycle.ts";
import { tryWalletLock } from "../protocols/community/storage/wallet-lock.ts";
import { type Ground, runTimeoutOf } from "./ground.ts";
import { openChainOf } from "./open-chain.ts";
import type { Thinking } from "./open-thinking.ts";

/** Of this process, once it listens. */
export interface OwnAddress {
  readonly host: string;
  readonly port: number;
}

export async function openDecisions(
  { config, clock, events, connections: { db } }: Ground,
  { models, dayBudget }: Thinking,
  ownAddress: Promise<OwnAddress>,
): Promise<DecisionCycleOptions> {
  const bareKey = config.txPrivateKey.replace(/^0x/i, "");
  const forms = [...secretsOf(config), bareKey, bareKey.toLowerCase(), bareKey.toUpperCase()];
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
    maxTokens: config.defaultMaxTokens || maxTokensDefault,
    runBudget: runBudgetOfService(config),
  };
}

/** Shorter ones would be found everywhere. */
const secretCharsMin = 8;
const maxTokensDefault = 4_096;

const ownPrompts = new URL("../protocols/community/decision-cycle/prompts/", import.meta.url);

/** Read once: what a cycle shows its agent must not change while it is edited. */
function readPrompts({
  decisionsPromptsDir: directory,
  decisionsNewerActions,
}: Config): DecisionCycleOptions["prompts"] {
  const read = (name: string): string =>
    readFileSync(directory === "" ? new URL(name, ownPrompts) : join(directory, name), "utf8");
  const newer = directory === "" && decisionsNewerActions ? read("newer.md") : "";
  return { system: read("agent.md") + newer, user: read("user.md") };
}

/** Whoever listens on all addresses listens on this one. */
function loopbackOf({ host, port }: OwnAddress): string {
  const isAny = host === "0.0.0.0" || host === "::" || host === "";
  const name = isAny ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

/** Once this replica can be reached. */
export function openSchedule(
  { config, clock, events, connections: { db }, closers }: Ground,
  { wakeup, dispatcher }: { readonly wakeup: Wakeup; readonly dispatcher: Dispatcher },
): void {
  const agentIds = config.decisionsAgents.map(({ agent }) => agent);
  if (agentIds.length === 0 || config.decisionsIntervalSeconds === 0) {
    return;
  }
  const start = {
    db,
    clock,
    wakeup,
    dispatcher,
    timeoutMs: runTimeoutOf(config),
    concurrentRunsMax: config.sessionsMaxConcurrent,
    clientRunsMax: config.sessionsClientMaxConcurrent,
  };
  const schedule = new Schedule({
    start,
    clock,
    events,
    agentIds,
    intervalMs: config.decisionsIntervalSeconds * 1_000,
  });
  closers.defer(() => schedule.close());
  schedule.open();
}
