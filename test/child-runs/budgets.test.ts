// Budgets in trees of any form: what the runs used adds up, and no run has more than its share.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Run } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import type { Script } from "../fakes/provider.ts";
import { query } from "../harness/database.ts";
import { ask, callOf, openStage, type Part } from "./team.ts";

/** An agent, what each of its responses uses, and the agents that it calls. */
interface Member {
  readonly tokens: number;
  readonly percent: number;
  readonly members: readonly Member[];
}

function memberOf(levels: number): fc.Arbitrary<Member> {
  return fc.record({
    tokens: fc.integer({ min: 1, max: 3_000 }),
    percent: fc.integer({ min: 1, max: 100 }),
    members: levels === 0 ? fc.constant([]) : fc.array(memberOf(levels - 1), { maxLength: 3 }),
  });
}

const budgetTokens = 100_000;

test("what a run and all below it used is counted once, and is within its budget", { timeout: 120_000 }, async () => {
  const parts: Record<string, Part> = {};
  const stage = await openStage(parts);
  const property = fc.asyncProperty(memberOf(3), async (top) => {
    const agent = agentOf(top, "top", parts);
    const { runId } = await ask(stage.client, { ...agent, budget: { tokens: BigInt(budgetTokens) } });
    await stage.ended(runId);
    const { runs } = await stage.client.call(RunService.method.listRuns, { rootRunId: runId, pageSize: 250 });
    const all = [...runs, await stage.ended(runId)];
    const delegated = await delegatedTokens(stage.service.databaseUrl);
    for (const run of all) {
      const below = all.filter((other) => isBelow(other, run, all));
      expect(delegated.get(run.runId) ?? 0, `what ${run.agentName} has delegated`).toBe(sum(below));
      const budget = await budgetOf(run, stage);
      expect(budget).toBeGreaterThan(0);
      // A budget is checked after each piece of a response: the last response of each run may exceed it.
      const overshoot = [run, ...below].length * responseTokensMax;
      expect(tokensOf(run) + sum(below)).toBeLessThanOrEqual(budget + overshoot);
      const granted = all.filter(({ parentRunId }) => parentRunId === run.runId).map((child) => budgetOf(child, stage));
      expect((await Promise.all(granted)).reduce((total, each) => total + each, 0)).toBeLessThanOrEqual(budget);
    }
  });
  await fc.assert(property, { numRuns: 6 });
});

/** The tokens of a response, and of its prompt as the service estimates it. */
const responseTokensMax = 6_000;

function agentOf({ tokens, members }: Member, name: string, parts: Record<string, Part>): object {
  const called = members.map((member, index) => ({ member, name: `${name}_${index}` }));
  parts[name] = (_, turn) => {
    const calls = called.map((each) => callOf(each.name, each.name, { message: "go" }));
    return turn === 0 && calls.length > 0 ? using(tokens, calls) : using(tokens);
  };
  const agents = called.map((each) => ({
    name: each.name,
    agent: agentOf(each.member, each.name, parts),
    budgetPercent: each.member.percent,
  }));
  return { name, systemPrompt: name, maxTurns: 5, tools: { agents } };
}

function using(tokens: number, calls: readonly ReturnType<typeof callOf>[] = []): Script {
  return (wire) => {
    if (calls.length > 0) {
      wire.toolCalls(...calls.map((call, index) => ({ index, ...call })));
    } else {
      wire.text("done");
    }
    wire.finish(calls.length > 0 ? "tool_calls" : "stop");
    wire.usage({ prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens });
    wire.done();
  };
}

/** What the checkpoint of each run has added for those below it. */
async function delegatedTokens(databaseUrl: string): Promise<ReadonlyMap<string, number>> {
  const rows = await query<{ run_id: string; state: Buffer }>(databaseUrl, "select run_id, state from checkpoint");
  return new Map(
    rows.map(({ run_id: id, state }) => {
      const { delegated = {} } = JSON.parse(state.toString());
      return [id, (delegated.promptTokens ?? 0) + (delegated.completionTokens ?? 0)];
    }),
  );
}

async function budgetOf({ runId }: Run, { client }: Awaited<ReturnType<typeof openStage>>): Promise<number> {
  const { agent } = await client.call(RunService.method.getRunInput, { runId });
  return Number(agent?.budget?.tokens ?? 0);
}

function isBelow(run: Run, above: Run, all: readonly Run[]): boolean {
  const parent = all.find(({ runId }) => runId === run.parentRunId);
  return parent !== undefined && (parent.runId === above.runId || isBelow(parent, above, all));
}

function sum(runs: readonly Run[]): number {
  return runs.reduce((total, run) => total + tokensOf(run), 0);
}

function tokensOf({ usage }: Run): number {
  return Number(usage?.promptTokens ?? 0n) + Number(usage?.completionTokens ?? 0n);
}
