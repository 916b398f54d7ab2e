// Agents that call agents: a call is a run of its own, whose end is the outcome of the call.

import { describe, expect } from "vitest";
import { Approval_Decision, Approval_State } from "#gen/runnel/v1/approval_pb.js";
import { ApprovalService } from "#gen/runnel/v1/approval_service_pb.js";
import type { RunResult } from "#gen/runnel/v1/result_pb.js";
import { type Run, Run_State } from "#gen/runnel/v1/run_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { answer, callTools, type Script } from "../fakes/provider.ts";
import { test } from "../fixtures.ts";
import { credentialsOf } from "../harness/credentials.ts";
import { GrpcClient } from "../harness/grpc.ts";
import { until } from "../harness/wait.ts";
import { ask, boss, callOf, echo, openStage, type Part, resultsOf, silent } from "./team.ts";

const { getRun, listRuns, cancelRun } = RunService.method;
const { sendMessage, purgeSession } = SessionService.method;

const worker = { name: "worker", description: "Works.", agent: { systemPrompt: "worker" } };
const bossOf = (...agents: readonly object[]) => ({
  name: "boss",
  systemPrompt: "boss",
  maxTurns: 5,
  tools: { agents },
});
const casesOf = (log: readonly RunResult[]) => log.map(({ payload }) => payload.case);

describe("a call of an agent", () => {
  test("is a run with a parent, and its output is the result of the call", async () => {
    const stage = await openStage({ boss: boss(callOf("c1", "worker", { message: "dig" })), worker: echo });
    const { runId } = await ask(stage.client, bossOf(worker));
    expect(await stage.ended(runId)).toMatchObject({
      state: Run_State.COMPLETED,
      output: "they said: echo dig",
      depth: 0,
    });
    const [child, ...others] = await stage.childrenOf(runId);
    expect(others).toEqual([]);
    expect(child).toMatchObject({
      parentRunId: runId,
      rootRunId: runId,
      depth: 1,
      output: "echo dig",
      driver: "llm-loop",
    });
    expect(casesOf(await stage.logOf(runId))).toEqual([
      "turnStarted",
      "messageCompleted",
      "toolCallStarted",
      "childRunStarted",
      "runWaiting",
      "toolCallCompleted",
      "turnStarted",
      "messageDelta",
      "messageCompleted",
      "runCompleted",
    ]);
    expect(await stage.client.call(listRuns, { rootRunId: runId })).toMatchObject({ runs: [{ runId: child?.runId }] });
  });

  test("of several in a response runs beside the others, and the results are in the order of the calls", async () => {
    let open: (() => void) | undefined;
    const both = new Promise<void>((resolve) => {
      open = resolve;
    });
    let working = 0;
    const meeting: Part = (messages) => async (wire, request) => {
      working += 1;
      if (working === 2) {
        open?.();
      }
      await both;
      await (echo(messages, 0, request) as Script)(wire, request);
    };
    const calls = ["a", "b"].map((message) => callOf(message, "worker", { message }));
    const stage = await openStage({ boss: boss(...calls), worker: meeting }, { runsSlots: 2 });
    const { runId } = await ask(stage.client, bossOf(worker));
    expect(await stage.ended(runId)).toMatchObject({ output: "they said: echo a | echo b" });
    expect(await stage.childrenOf(runId)).toHaveLength(2);
  });

  test("holds no slot while its runs work: one slot is enough for a tree", async () => {
    const middle = { name: "middle", agent: { systemPrompt: "middle", maxTurns: 5, tools: { agents: [worker] } } };
    const calls = ["a", "b", "c"].map((message) => callOf(message, "middle", { message }));
    const stage = await openStage(
      {
        boss: boss(...calls),
        middle: (messages, turn, request) =>
          boss(callOf("m", "worker", { message: `of ${messages.at(-1)?.content}` }))(messages, turn, request),
        worker: echo,
      },
      { runsSlots: 1 },
    );
    const { runId } = await ask(stage.client, bossOf(middle));
    const said = ["a", "b", "c"].map((each) => `they said: echo of ${each}`).join(" | ");
    expect(await stage.ended(runId)).toMatchObject({ output: `they said: ${said}` });
    const { runs } = await stage.client.call(listRuns, { rootRunId: runId });
    expect(runs.map(({ depth }) => depth).toSorted()).toEqual([1, 1, 1, 2, 2, 2]);
  });
});

describe("the end of a child run", () => {
  test("that failed is an error that has its code, its text and its id, and its parent goes on", async () => {
    const failing: Part = () => (wire) => {
      wire.text("half an answer");
      wire.frame({ error: { message: "broken", code: 400 } });
    };
    const stage = await openStage({ boss: boss(callOf("c1", "worker", { message: "dig" })), worker: failing });
    const { runId } = await ask(stage.client, bossOf(worker));
    const { output } = await stage.ended(runId);
    const [child] = await stage.childrenOf(runId);
    expect(output).toContain("Error: the agent ended with runner.error:");
    expect(output).toContain(`Its text so far:\nhalf an answer\n\n[run_id: ${child?.runId}]`.replace(/\n\n\[.*$/, ""));
  });

  test("lets a later call continue it by its id, in the same session", async () => {
    let first = "";
    const asking: Part = (messages, turn) => {
      first ||= /\[run_id: ([0-9a-f-]+)\]$/.exec(messages.at(-1)?.content ?? "")?.[1] ?? "";
      return turn < 2
        ? callTools(callOf(`c${turn}`, "worker", { message: `part ${turn}`, ...(first !== "" && { run_id: first }) }))
        : answer(resultsOf(messages).join());
    };
    const counting: Part = (messages) => answer(`${messages.filter(({ role }) => role === "user").length} messages`);
    const stage = await openStage({ boss: asking, worker: counting });
    const { runId, sessionId } = await ask(stage.client, bossOf(worker));
    expect(await stage.ended(runId)).toMatchObject({ output: "2 messages" });
    const [one, two] = await stage.childrenOf(runId);
    expect(two?.sessionId).toBe(one?.sessionId);
    // Also from a later run of the parent's session.
    const again = await stage.client.call(sendMessage, { sessionId, message: "more" });
    expect(await stage.ended(again.runId)).toMatchObject({ output: "4 messages" });
  });

  test.each([
    ["of another session", { run_id: "01900000-0000-7000-8000-000000000000" }, "there is no run 01900000-0000"],
    ["that is no id", { run_id: "the last one" }, "run_id must be the id at the end of an earlier result"],
    ["without a message", { message: 7 }, "message must be a text"],
  ])("is not continued by a call %s", async (_, args, error) => {
    const stage = await openStage({ boss: boss(callOf("c1", "worker", { message: "dig", ...args })), worker: echo });
    const { runId } = await ask(stage.client, bossOf(worker));
    expect((await stage.ended(runId)).output).toContain(error);
    expect(await stage.childrenOf(runId)).toEqual([]);
  });
});

describe("a tree of runs", () => {
  test("is cancelled from its top down", async () => {
    const middle = { name: "middle", agent: { systemPrompt: "middle", maxTurns: 5, tools: { agents: [worker] } } };
    const stage = await openStage({
      boss: boss(callOf("c1", "middle", { message: "dig" })),
      middle: boss(callOf("m1", "worker", { message: "deep" })),
      worker: silent,
    });
    const { runId } = await ask(stage.client, bossOf(middle));
    const runs = async () => (await stage.client.call(listRuns, { rootRunId: runId })).runs;
    await until("the lowest run to work", async () =>
      (await runs()).some(({ depth, state }) => depth === 2 && state === Run_State.RUNNING),
    );
    await stage.client.call(cancelRun, { runId });
    await until("all to be cancelled", async () => (await runs()).every(({ state }) => state === Run_State.CANCELLED));
    expect(await stage.ended(runId)).toMatchObject({ state: Run_State.CANCELLED });
  });

  test("goes on without a child run that was cancelled alone", async () => {
    const stage = await openStage({ boss: boss(callOf("c1", "worker", { message: "dig" })), worker: silent });
    const { runId } = await ask(stage.client, bossOf(worker));
    const child = (await until("the child run", async () => (await stage.childrenOf(runId))[0] ?? false)) as Run;
    await stage.client.call(cancelRun, { runId: child.runId });
    expect(await stage.ended(runId)).toMatchObject({
      state: Run_State.COMPLETED,
      output: expect.stringContaining("the agent ended with cancelled"),
    });
  });

  test("ends at its fifth level below the top", async () => {
    const self: Part = (messages, turn) =>
      turn === 0 ? callTools(callOf("c", "self", { message: "deeper" })) : answer(resultsOf(messages).join());
    const preset =
      'self={"system_prompt": "self", "max_turns": 5, "tools": {"agents": [{"name": "self", "preset": "self"}]}}';
    const stage = await openStage({ self }, { agentPresets: [preset] });
    const { runId } = await ask(stage.client, {
      name: "self",
      systemPrompt: "self",
      maxTurns: 5,
      tools: { agents: [{ name: "self", preset: "self" }] },
    });
    expect((await stage.ended(runId)).output).toContain("this agent is 5 levels below the first one");
    const { runs } = await stage.client.call(listRuns, { rootRunId: runId });
    expect(runs.map(({ depth }) => depth)).toEqual([5, 4, 3, 2, 1]);
  });

  test("is of its client alone, and is purged with its session", async () => {
    const stage = await openStage({ boss: boss(callOf("c1", "worker", { message: "dig" })), worker: echo });
    const { runId, sessionId } = await ask(stage.client, bossOf(worker));
    await stage.ended(runId);
    const [child] = await stage.childrenOf(runId);
    const stranger = new GrpcClient(stage.service.target, credentialsOf("stranger"));
    await expect(stranger.call(getRun, { runId: child?.runId ?? "" })).rejects.toThrow("run not found");
    expect((await stranger.call(listRuns, { rootRunId: runId })).runs).toEqual([]);
    expect(await stage.client.call(purgeSession, { sessionId })).toMatchObject({ runs: 2 });
    expect(
      JSON.stringify(await stage.logOf(child?.runId ?? ""), (_, value) =>
        typeof value === "bigint" ? Number(value) : value,
      ),
    ).not.toContain("echo");
  });

  test("works in the directory of its top", async () => {
    const tools = { builtin: ["write_file", "read_file"] };
    const writing: Part = (_, turn) =>
      turn === 0
        ? callTools(callOf("w", "write_file", { file_path: "a.txt", content: "from below" }))
        : answer("written");
    const reading: Part = (messages, turn) =>
      turn === 0
        ? callTools(callOf("c1", "worker", { message: "write" }))
        : turn === 1
          ? callTools(callOf("r", "read_file", { file_path: "a.txt" }))
          : answer(resultsOf(messages).join());
    const stage = await openStage({ boss: reading, worker: writing });
    const agent = {
      ...bossOf(),
      tools: { ...tools, agents: [{ ...worker, agent: { systemPrompt: "worker", maxTurns: 3, tools } }] },
    };
    const { runId } = await ask(stage.client, agent);
    expect((await stage.ended(runId)).output).toContain("from below");
  });
});

const manyAgents = Array.from({ length: 16 }, (_, one) => ({
  name: `a${one}`,
  agent: { tools: { agents: Array.from({ length: 16 }, (__, two) => ({ name: `b${two}`, agent: {} })) } },
}));

describe("the rights of a child run", () => {
  test.each([
    ["builtin", { builtin: ["bash"] }, "worker has a tool of builtin bash: its parent does not have it"],
    ["functions", { functions: [{ name: "f" }] }, "functions: no caller could answer them"],
    ["mcp", { mcp: [{ name: "files", url: "https://files.example" }] }, "mcp files: its parent does not have it"],
    ["provider", { provider: [{ provider: "openai", tool: "{}" }] }, "provider {}: its parent does not have it"],
  ])("are at most those of its parent: %s", async (_, tools, error) => {
    const stage = await openStage({});
    const agents = [{ name: "worker", agent: { tools } }];
    await expect(ask(stage.client, bossOf(...agents))).rejects.toThrow(error);
  });

  test.each([
    ["has no settings", { name: "worker" }, "worker has no settings: set agent, preset or both"],
    ["names an unknown preset", { name: "worker", preset: "nobody" }, 'there is no preset "nobody"'],
    ["calls too many others", { name: "worker", agent: { tools: { agents: manyAgents } } }, "at most 256 agents"],
    ["has a wrong schema", { name: "worker", parameters: "7", agent: {} }, "create agent worker: parameters must be"],
    ["has the name of another tool", { name: "list_dir", agent: {} }, "tool already registered: list_dir"],
  ])("are refused when the agent %s", async (_, agent, error) => {
    const stage = await openStage({});
    await expect(ask(stage.client, { ...bossOf(), tools: { builtin: ["list_dir"], agents: [agent] } })).rejects.toThrow(
      error,
    );
  });

  test("ask for the approvals of its parent, and a call of an agent may ask for one", async () => {
    const tools = { builtin: ["list_dir"] };
    const stage = await openStage({
      boss: boss(callOf("c1", "worker", { message: "look" })),
      worker: (_, turn) => (turn === 0 ? callTools(callOf("l", "list_dir", { path: "." })) : answer("looked")),
    });
    const agent = { systemPrompt: "worker", maxTurns: 3, tools };
    const agents = [{ name: "worker", agent }];
    const { runId } = await ask(stage.client, {
      ...bossOf(),
      tools: { ...tools, agents, approve: ["worker", "list_dir"] },
    });
    const decideNext = async () => {
      const state = Approval_State.PENDING;
      const {
        approvalId,
        action,
        runId: of,
      } = await until("an approval", async () => {
        const { approvals } = await stage.client.call(ApprovalService.method.listApprovals, { state });
        return approvals[0] ?? false;
      });
      const { approval } = await stage.client.call(ApprovalService.method.getApproval, { approvalId });
      const decision = { approvalId, digest: approval?.digest ?? "", decision: Approval_Decision.APPROVE };
      await stage.client.call(ApprovalService.method.decideApproval, decision);
      return { action, isOfParent: of === runId };
    };
    expect(await decideNext()).toEqual({ action: "worker", isOfParent: true });
    expect(await decideNext()).toEqual({ action: "list_dir", isOfParent: false });
    expect(await stage.ended(runId)).toMatchObject({ output: "they said: looked" });
    expect(casesOf(await stage.logOf(runId))).toContain("childRunStarted");
  });
});

describe("the budget of a child run", () => {
  /** Answers with an exact number of tokens. */
  const spending =
    (tokens: number, text: string): Script =>
    (wire) => {
      wire.text(text);
      wire.finish("stop");
      wire.usage({ prompt_tokens: 0, completion_tokens: tokens, total_tokens: tokens });
      wire.done();
    };

  test("is its share of what is left of its parent's, and what it leaves is its parent's again", async () => {
    const calling: Part = (messages, turn) =>
      turn < 2 ? callTools(callOf(`c${turn}`, "worker", { message: `${turn}` })) : answer(resultsOf(messages).join());
    const stage = await openStage({ boss: calling, worker: () => spending(1_000, "done") });
    const { runId } = await ask(stage.client, {
      ...bossOf({ ...worker, budgetPercent: 25 }),
      budget: { tokens: 100_000n },
    });
    await stage.ended(runId);
    const budgets = await Promise.all(
      (await stage.childrenOf(runId)).map(async (child) => {
        const { agent } = await stage.client.call(RunService.method.getRunInput, { runId: child.runId });
        return Number(agent?.budget?.tokens);
      }),
    );
    const [first = 0, second = 0] = budgets;
    expect(first).toBeLessThanOrEqual(25_000);
    expect(first).toBeGreaterThan(24_000);
    // Its parent has used up the 1,000 tokens of the first run and its own second response.
    expect(first - second).toBeGreaterThanOrEqual(250);
    expect(first - second).toBeLessThan(500);
  });

  test("ends a run with what it has, and its parent goes on", async () => {
    const stage = await openStage({
      boss: boss(callOf("c1", "worker", { message: "dig" })),
      worker: () => spending(1_000, "too much ".repeat(400)),
    });
    const { runId } = await ask(
      stage.client,
      bossOf({ ...worker, agent: { ...worker.agent, budget: { tokens: 500n } } }),
    );
    const { output, state } = await stage.ended(runId);
    expect(state).toBe(Run_State.COMPLETED);
    expect(output).toContain("the agent ended with runner.budget_exceeded");
    expect(output).toContain("Its text so far:\ntoo much");
  });
});
