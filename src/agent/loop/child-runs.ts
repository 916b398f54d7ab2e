// The calls of agents: each starts a child run, and the end of that run is the outcome of the call.
//
// C1  A call starts its run in the commit that writes the call, or that uses its approval: so at most once.
// C2  What a run may spend is taken from the budget of its parent before it starts. What it and all below it used counts when the
//     outcome is written: the rest is the parent's again.

import { create } from "@bufbuild/protobuf";
import { MessageSchema, type ToolCall } from "#gen/runnel/v1/message_pb.js";
import { type ToolCallCompleted, ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import { type Agent, AgentSchema, type Budget, BudgetSchema, type Subagent } from "#gen/runnel/v1/session_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import { treeDepthMax, treeRunsMax } from "../../engine/runs/children.ts";
import type {
  CallChild,
  ChildEnd,
  NewChild,
  NewChildren,
  OpenToolCall,
  ParkedEnd,
  RunTree,
} from "../../engine/runs/driver.ts";
import { completedText } from "../../engine/sessions/message-text.ts";
import { Fault } from "../../platform/base/fault.ts";
import { newUuid } from "../../platform/base/ids.ts";
import type { Amount } from "../budget/day-budget.ts";
import { addUsage, tokensOf, type UsageTotals } from "../budget/usage.ts";
import { parseArguments } from "../tools/arguments.ts";
import { capContent } from "../tools/cap.ts";
import { isSubagent, type SubagentCall } from "../tools/subagent.ts";
import type { Tool } from "../tools/tool.ts";
import { checkpointOf, type Progress } from "./progress.ts";

/**
 * Finds the settings of a subagent, within those of its parent.
 * @throws Fault INVALID_ARGUMENT, PRESET_NOT_FOUND.
 */
export type ResolveSubagent = (
  subagent: Subagent,
  parent: { readonly client: string; readonly agent: Agent },
) => { readonly agent: Agent; readonly driver: string; readonly model: string };

/** What decides which runs start. */
export interface Starting {
  readonly client: string;
  readonly agent: Agent;
  readonly tools: readonly Tool[];
  readonly resolve: ResolveSubagent;
  readonly readTree: (continued: readonly string[]) => Promise<RunTree>;
  /** The budget of the run. */
  readonly runMax: Amount;
  readonly nowMs: number;
}

/** The runs that calls start. */
export interface Started {
  /** The calls with their new runs, or with why they start none as their outcomes. */
  readonly calls: readonly OpenToolCall[];
  readonly results: readonly ResultInit[];
  /** Undefined when no call starts a run or is refused. */
  readonly children: NewChildren | undefined;
  /** What the runs of this turn may spend, with those that started before. */
  readonly granted: Amount;
}

/** Returns the runs that calls start now. `mayStart` says which calls those are, by position. */
export async function startChildRuns(
  calls: readonly OpenToolCall[],
  mayStart: (call: OpenToolCall, position: number) => boolean,
  progress: Progress,
  starting: Starting,
): Promise<Started> {
  const asked = new Map<number, { readonly subagent: Subagent; readonly call: SubagentCall }>();
  for (const [position, open] of calls.entries()) {
    const tool = starting.tools.find(({ name }) => name === open.call.name);
    const parsed = parseArguments(open.call.arguments);
    if (isSubagent(tool) && "args" in parsed && isUnbegun(open) && mayStart(open, position)) {
      const call = tool.read(parsed.args);
      if (!("error" in call)) {
        asked.set(position, { subagent: tool.subagent, call });
      }
    }
  }
  if (asked.size === 0) {
    return { calls, results: [], children: undefined, granted: progress.granted };
  }
  const continued = [...asked.values()].flatMap(({ call }) => call.continues ?? []);
  const tree = await starting.readTree(continued);
  const left = new Allowance(starting.runMax, progress);
  const taken = new Set<string>();
  const runs: NewChild[] = [];
  const refused: { readonly position: number; readonly outcome: ToolCallCompleted }[] = [];
  const answered = calls.map((open, position): OpenToolCall => {
    const wanted = asked.get(position);
    if (wanted === undefined) {
      return open;
    }
    const made = childOf({ ...wanted, position }, { tree, taken, left, count: runs.length }, starting);
    if ("error" in made) {
      const outcome = failedCall(open.call, made.error);
      refused.push({ position, outcome });
      return { ...open, outcome };
    }
    runs.push(made);
    return { ...open, child: { runId: made.runId, end: undefined } };
  });
  const results = runs.map((run) => startedResult(run, calls[run.position]?.call, asked.get(run.position)?.call));
  const children = { turn: progress.turns, runs, refused };
  return { calls: answered, results, children, granted: left.granted };
}

function isUnbegun({ outcome, child }: OpenToolCall): boolean {
  return outcome === undefined && child === undefined;
}

interface Wanted {
  readonly subagent: Subagent;
  readonly call: SubagentCall;
  readonly position: number;
}

interface Room {
  readonly tree: RunTree;
  /** The runs that other calls of the response continue. */
  readonly taken: Set<string>;
  readonly left: Allowance;
  /** The number of runs that start before this one. */
  readonly count: number;
}

function childOf(
  { subagent, call, position }: Wanted,
  { tree, taken, left, count }: Room,
  { resolve, nowMs, ...parent }: Starting,
): NewChild | { readonly error: string } {
  if (tree.depth >= treeDepthMax) {
    return { error: `not run: this agent is ${treeDepthMax} levels below the first one, and may call no other agent` };
  }
  if (tree.runs + count >= treeRunsMax) {
    return { error: `not run: all agents together have made ${treeRunsMax} calls of agents, which is the maximum` };
  }
  const { continues } = call;
  const continued = continues === undefined ? undefined : tree.continued.get(continues);
  if (continues !== undefined && continued === undefined) {
    return { error: `not run: there is no run ${continues} of an agent to continue: leave run_id unset` };
  }
  if (continued !== undefined && (!continued.isOver || taken.has(continued.session))) {
    return { error: `not run: the run ${continues} is still at work: continue it in a later response` };
  }
  try {
    const { agent, driver, model } = resolve(subagent, parent);
    const budget = left.take(subagent.budgetPercent || budgetPercentDefault, agent);
    if (budget === undefined) {
      return { error: "not run: nothing is left of the budget" };
    }
    if (continued !== undefined) {
      taken.add(continued.session);
    }
    return {
      ...{ position, driver, model },
      runId: newUuid(nowMs),
      agent: create(AgentSchema, { ...agent, budget }),
      message: create(MessageSchema, { role: "user", content: { case: "text", value: call.message } }),
      session: continued?.session ?? newUuid(nowMs),
      opensSession: continued === undefined,
    };
  } catch (error) {
    if (error instanceof Fault) {
      return { error: `not run: ${error.message}` };
    }
    throw error;
  }
}

const budgetPercentDefault = 50;

/** The rest of a run's budget, for new child runs. */
class Allowance {
  readonly #max: Amount;
  readonly #left: Amount;
  #granted: Amount;

  constructor(max: Amount, { usage, delegated, granted }: Progress) {
    const used = addUsage(usage, delegated);
    this.#max = max;
    this.#left = {
      tokens: max.tokens - tokensOf(used),
      costMicroUsd: max.costMicroUsd - (used.costMicroUsd ?? 0),
    };
    this.#granted = granted;
  }

  get granted(): Amount {
    return this.#granted;
  }

  /** Takes a share for an agent. Returns the budget of its run; undefined when nothing is left. */
  take(percent: number, { budget }: Agent): Budget | undefined {
    const tokens = this.#share("tokens", percent, Number(budget?.tokens ?? 0));
    const costMicroUsd = this.#share("costMicroUsd", percent, Number(budget?.costMicroUsd ?? 0));
    if (tokens === undefined || costMicroUsd === undefined) {
      return undefined;
    }
    this.#granted = {
      tokens: this.#granted.tokens + (this.#max.tokens === 0 ? 0 : tokens),
      costMicroUsd: this.#granted.costMicroUsd + (this.#max.costMicroUsd === 0 ? 0 : costMicroUsd),
    };
    return create(BudgetSchema, { tokens: BigInt(tokens), costMicroUsd: BigInt(costMicroUsd) });
  }

  /** Returns the smaller of the agent's own limit and its share; 0 without a limit, undefined when nothing is left. */
  #share(kind: keyof Amount, percent: number, own: number): number | undefined {
    if (this.#max[kind] === 0) {
      return own;
    }
    const share = Math.floor(((this.#left[kind] - this.#granted[kind]) * percent) / 100);
    const max = own === 0 ? share : Math.min(own, share);
    return max < 1 ? undefined : max;
  }
}

function startedResult(run: NewChild, call: ToolCall | undefined, asked: SubagentCall | undefined): ResultInit {
  const value = {
    toolCallId: call?.id ?? "",
    toolName: call?.name ?? "",
    runId: run.runId,
    continuesRunId: asked?.continues ?? "",
  };
  return { payload: { case: "childRunStarted", value } };
}

/** Returns whether a call waits for its run. */
export function isOfOpenChild({ outcome, child }: OpenToolCall): boolean {
  return outcome === undefined && child !== undefined && child.end === undefined;
}

/** Returns the calls with the outcomes of those whose runs have ended. */
export function withChildOutcomes(calls: readonly OpenToolCall[]): OpenToolCall[] {
  return calls.map((open) => {
    const { call, outcome, child } = open;
    return outcome === undefined && child?.end !== undefined
      ? { ...open, outcome: outcomeOfChild(call, child, child.end) }
      : open;
  });
}

/** Returns what the ended runs of the calls used, with all below them. */
export function usageOfChildren(calls: readonly OpenToolCall[]): UsageTotals {
  return calls.reduce<UsageTotals>((sum, { child }) => addUsage(sum, child?.end?.spent ?? {}), {});
}

function outcomeOfChild(call: ToolCall, { runId }: CallChild, { result }: ChildEnd): ToolCallCompleted {
  const payload = result?.payload;
  if (payload?.case === "runCompleted") {
    return create(ToolCallCompletedSchema, {
      toolCallId: call.id,
      toolName: call.name,
      result: JSON.stringify({
        content: signed(capContent(completedText(payload.value)), runId),
        structured_content: { run_id: runId },
      }),
    });
  }
  if (payload?.case !== "runFailed") {
    return failedCall(call, `the record of run ${runId} is gone`);
  }
  const { code, error, output } = payload.value;
  const said = output === "" ? "" : `\nIts text so far:\n${capContent(output)}`;
  return failedCall(call, signed(`the agent ended with ${code}: ${error}${said}`, runId));
}

function failedCall({ id, name }: ToolCall, error: string): ToolCallCompleted {
  return create(ToolCallCompletedSchema, { toolCallId: id, toolName: name, error });
}

function signed(text: string, runId: string): string {
  return `${text}\n\n[run_id: ${runId}]`;
}

/** Returns the end that parks a run until the runs of its calls have ended. */
export function parkForChildRuns(progress: Progress, calls: readonly OpenToolCall[]): ParkedEnd {
  const names = new Set(calls.filter(isOfOpenChild).map(({ call }) => call.name));
  return {
    kind: "parked",
    reason: `agents: ${[...names].join(", ")}`,
    wakeInMs: undefined,
    waitsFor: "children",
    checkpoint: checkpointOf(progress),
  };
}
