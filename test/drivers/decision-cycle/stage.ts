// Agents of a forum that decide by themselves, with a model that answers as a test sets.

import { expect } from "vitest";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Config } from "../../../src/platform/config/keys.ts";
import { answer, type FakeProvider } from "../../fakes/provider.ts";
import { test as base, openProvider } from "../../fixtures.ts";
import { type Agent, type Answer, adminToken, asAdmin, type Forum, openForum, send } from "../../forum/stage.ts";
import { testKeys } from "../../harness/credentials.ts";
import { query } from "../../harness/database.ts";
import { GrpcClient } from "../../harness/grpc.ts";
import { startService, type TestService } from "../../harness/service.ts";

export const decisionsKey = { client: "decisions", key: "key-of-decisions-for-tests" };

export interface Stage {
  readonly forum: Forum;
  readonly agent: Agent;
  readonly other: Agent;
  readonly provider: FakeProvider;
  readonly service: TestService;
  /** Queues the model's answers to the next requests. */
  say(...decisions: readonly (object | string)[]): void;
  /** Starts a cycle and waits for its end. */
  cycle(agentId?: string): Promise<Cycle>;
  startCycle(agentId?: string): Promise<Answer>;
  /** Waits for the end of a run that was started. */
  followCycle(runId: string): Promise<Cycle>;
  admin(method: string, path: string, body?: unknown): Promise<Answer>;
  /** The prompt of request number `index`: the system prompt, and the context in the user's message. */
  shown(index: number): { system: string; user: string; context: Context };
  query(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  communications(agentId?: string): Promise<Entry[]>;
}

export interface Entry {
  readonly direction: string;
  readonly actionTypes: readonly string[];
  readonly content: string;
  readonly [field: string]: unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of it stands in the test.
export type Context = any;

export interface Cycle {
  readonly runId: string;
  readonly results: readonly RunResult[];
  /** The result of a completed cycle; `{ok: false, error}` of a failed one. */
  // biome-ignore lint/suspicious/noExplicitAny: the same.
  readonly result: any;
}

/** `remote`: the forum is in a service of its own, with a database of its own. */
export async function setStage(
  flags: Partial<Config> = {},
  { remote = false }: { readonly remote?: boolean } = {},
): Promise<Stage> {
  const provider = await openProvider();
  const forum = await openForum();
  const [agent, other] = [await forum.addAgent("alice"), await forum.addAgent("bob")];
  const service = await startService({
    ...settingsOf(provider, [agent, other]),
    ...(remote ? { decisionsForumUrl: forum.service.url } : { databaseUrl: forum.service.databaseUrl }),
    ...flags,
  });
  const admin: Stage["admin"] = (method, path, body) =>
    send(service, method, path, {
      headers: { ...asAdmin, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const startCycle: Stage["startCycle"] = (agentId = agent.id) =>
    admin("POST", `/v1/decision-agents/${agentId}/cycles`, {});
  const followCycle: Stage["followCycle"] = (runId) => readCycle(service.target, runId);
  return {
    forum,
    agent,
    other,
    provider,
    service,
    admin,
    startCycle,
    followCycle,
    say: (...decisions) =>
      provider.respond(...decisions.map((each) => answer(typeof each === "string" ? each : JSON.stringify(each)))),
    cycle: async (agentId) => {
      const started = await startCycle(agentId);
      expect(started).toMatchObject({ status: 200, body: { run_id: expect.any(String) } });
      return await followCycle(started.body.run_id);
    },
    shown: (index) => shownOf(provider, index),
    query: (text, values) => query(service.databaseUrl, text, values),
    communications: async (agentId = agent.id) =>
      (await admin("GET", `/v1/decision-agents/${agentId}/communications`)).body.communications,
  };
}

export const test = base.extend("stage", () => setStage());

export function settingsOf(provider: FakeProvider, agents: readonly Agent[]): Partial<Config> {
  return {
    authAdminToken: adminToken,
    authApiKeys: [...testKeys, decisionsKey],
    forumNoncesPerMinute: 0,
    openaiKey: "a-key-of-openai",
    openaiBaseUrl: provider.baseUrl,
    // The catalogue does not have it, so it is asked for text.
    defaultModel: "openai:fake",
    decisionsAgents: agents.map(({ id, token }) => ({ agent: id, key: token })),
    decisionsIntervalSeconds: 0,
  };
}

export function shownOf(provider: FakeProvider, index: number): ReturnType<Stage["shown"]> {
  const { messages } = provider.requests[index]?.body ?? { messages: [] };
  const [system = "", user = ""] = ["system", "user"].map((role) =>
    String(messages.find((each) => each.role === role)?.content ?? ""),
  );
  return { system, user, context: JSON.parse(user.slice(user.indexOf("\n{") + 1)) };
}

export async function readCycle(target: string, runId: string): Promise<Cycle> {
  const client = new GrpcClient(target, { authorization: `Bearer ${decisionsKey.key}` });
  const results: RunResult[] = [];
  for await (const batch of client.stream(RunService.method.tailRun, { runId })) {
    results.push(...batch.results);
  }
  return { runId, results, result: resultOf(results.at(-1)) };
}

function resultOf(last: RunResult | undefined): unknown {
  switch (last?.payload.case) {
    case "runCompleted":
      return JSON.parse(String(last.payload.value.message?.content.value));
    case "runFailed":
      return { ok: false, error: last.payload.value.error };
    default:
      return undefined;
  }
}
