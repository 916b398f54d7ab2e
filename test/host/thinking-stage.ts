// A run of a runner, and the models, tools and knowledge of its host: real Postgres, real tools, a provider and a reranker that
// speak their protocols. Calls go through the gate, as those of a runner whose token the server has checked.

import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { onTestFinished } from "vitest";
import { DayBudget, dayBudgetOfService } from "../../src/agent/budget/day-budget.ts";
import { openModels } from "../../src/agent/models/open.ts";
import { createBash } from "../../src/agent/tools/bash/bash.ts";
import { createCommands } from "../../src/agent/tools/bash/commands.ts";
import { findBubblewrap } from "../../src/agent/tools/bash/find-bubblewrap.ts";
import { createSelectBuiltin } from "../../src/agent/tools/builtin.ts";
import { createSelectTools } from "../../src/agent/tools/select-tools.ts";
import { loadConfig } from "../../src/app/settings.ts";
import { WorkDirs } from "../../src/engine/sessions/work-dirs.ts";
import { setAdmission } from "../../src/platform/auth/caller.ts";
import { RateLimit } from "../../src/platform/auth/rate-limit.ts";
import { systemClock } from "../../src/platform/base/clock.ts";
import type { Config } from "../../src/platform/config/keys.ts";
import { createEgress, type Egress } from "../../src/platform/egress/post.ts";
import { createHostThinking } from "../../src/protocols/langbot/handlers/host-thinking.ts";
import type { Grant } from "../../src/protocols/langbot/runners/grant.ts";
import type { RunScope } from "../../src/protocols/langbot/runners/scope.ts";
import { insertRemoteRun } from "../../src/protocols/langbot/storage/remote-run.ts";
import { startFakeReranker } from "../fakes/rerank-provider.ts";
import { openProvider } from "../fixtures.ts";
import { addRun, LocalWakeup, openStore, type Store, silentEvents } from "../runlog/store.ts";

export const client = "shared/test";
export const runnerId = "plugin:ada/tools/agent";

export interface ThinkingOptions {
  readonly flags?: Partial<Config>;
  readonly grant?: Partial<Pick<Grant, "models" | "tools" | "knowledgeBases">>;
  /** The database of another stage. */
  readonly store?: Store;
}

export async function openThinking({ flags = {}, grant = {}, store }: ThinkingOptions = {}) {
  const { db } = store ?? (await openStore());
  const provider = await openProvider();
  const reranker = await startFakeReranker();
  onTestFinished(() => reranker.close());
  const config = loadConfig(
    {},
    {
      openaiBaseUrl: provider.baseUrl,
      openaiKey: "sk-of-the-operator",
      rerankBaseUrl: reranker.baseUrl,
      retryBaseMs: 1,
      ...flags,
    },
  );
  const shared = { db, clock: systemClock, events: silentEvents };
  const egress = createEgress({ clock: systemClock, allowsPrivate: false, exceptions: [] });
  onTestFinished(() => egress.close());
  const models = openModels({ ...shared, config, random: Math.random, egress });
  onTestFinished(() => models.close());
  const workRoot = await mkdtemp(join(tmpdir(), "runnel-host-"));
  // Commands of a service of root run as another user, who must be able to enter this directory.
  await chmod(workRoot, 0o711);
  onTestFinished(() => rm(workRoot, { recursive: true, force: true }));
  const selectTools = await openTools(egress);
  const thinking = createHostThinking({
    ...shared,
    config,
    models,
    dayBudget: new DayBudget({ ...shared, max: dayBudgetOfService(config) }),
    selectTools,
    workDirs: new WorkDirs({ root: workRoot, reserved: [], permitted: [], claims: undefined }),
    hostRate: new RateLimit({ clock: systemClock, requestsPerSecond: 0, burst: 1 }),
    wakeup: new LocalWakeup(),
    drain: new AbortController().signal,
    runServers: { lease: () => Promise.reject(new Error("runs of this stage have no servers")) },
  });
  const run = await addRun(db, { client });
  const scope: RunScope = { client, runnerId, bindingId: "b", eventId: "e" };
  const granted = { ...nothingGranted, ...grant };
  await db.transaction().execute((trx) =>
    insertRemoteRun(trx, {
      runId: run.id,
      client,
      runnerId,
      bindingId: "b",
      era: "spec",
      scope,
      granted,
      address: undefined,
      context: new Uint8Array(),
    }),
  );
  await db.updateTable("remote_run").set({ attempt: 1 }).where("run_id", "=", run.id).execute();
  return { db, provider, reranker, models, thinking, selectTools, runId: run.id, workRoot, context: contextOf(run.id) };
}

/** The context of a handler after the server has identified the run by its token. */
export function contextOf(runId: string, signal: AbortSignal = new AbortController().signal): HandlerContext {
  const values = createContextValues();
  setAdmission(values, { caller: { kind: "run", runId, attempt: 1 }, network: "here" });
  return { values, signal } as HandlerContext;
}

/** Calls a handler with a complete message, as a router does. */
export async function ask<S extends DescMessage, Answer>(
  handler: (request: MessageShape<S>, context: HandlerContext) => Answer | Promise<Answer>,
  schema: S,
  request: MessageInitShape<S>,
  context: HandlerContext,
): Promise<Answer> {
  return await handler(create(schema, request), context);
}

async function openTools(egress: Egress) {
  const jail = await findBubblewrap({ clock: systemClock, hidden: [], path: process.env.PATH ?? "" });
  const bash =
    "problem" in jail
      ? { name: "bash", why: jail.problem }
      : createBash(
          createCommands({
            jail,
            clock: systemClock,
            denyList: "documented",
            growthBytesMax: 1_048_576,
            onKilled: () => {},
          }),
        );
  return createSelectTools({
    mcp: { check: () => {} },
    selectBuiltin: createSelectBuiltin([bash]),
    egress,
    clock: systemClock,
    random: Math.random,
    sign: () => ({}),
    canSign: () => false,
    callbackBaseUrl: "",
    callbackTimeoutMs: 0,
  });
}

export const nothingGranted: Grant = {
  models: {},
  tools: {},
  knowledgeBases: {},
  files: [],
  pluginStorage: false,
  workspaceStorage: false,
  apis: [],
  stateScopes: [],
  delivery: { streaming: true, reply: true },
  announcesStreaming: true,
};
