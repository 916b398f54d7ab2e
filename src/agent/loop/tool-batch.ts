// Runs the tool calls of one turn in parallel. Each outcome is committed as it arrives; all results follow in call order.

import { create } from "@bufbuild/protobuf";
import type { ToolCall } from "#gen/runnel/v1/message_pb.js";
import { type ToolCallCompleted, ToolCallCompletedSchema } from "#gen/runnel/v1/result_pb.js";
import type { ResultInit } from "../../engine/log/result.ts";
import type { DriverStep, OpenToolCall, RunContext, SettleCall, StepEffects } from "../../engine/runs/driver.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { failpoint } from "../../platform/base/failpoint.ts";
import type { Events } from "../../platform/telemetry/events.ts";
import { callTimeoutMs, prepareCall } from "../tools/call.ts";
import { printResult } from "../tools/result-json.ts";
import type { AskedForm, Tool, ToolContext, ToolEffect, ToolOutcome, ToolProgress } from "../tools/tool.ts";
import { isUndecided, outcomeOfRefusal } from "./approvals.ts";
import { callsPerTurnMax } from "./calls.ts";
import { askForForm, type CommitOfCall, endForms, type FormsOptions } from "./forms.ts";
import { describeTools } from "./invalid-calls.ts";

/** The maximum number of calls that run at the same time. */
export const parallelCallsMax = 5;

/** The calls of one turn and what they run with. */
export interface ToolBatch {
  readonly turn: number;
  readonly calls: readonly OpenToolCall[];
  /** True when another process began these calls and died. */
  readonly resumed: boolean;
  readonly tools: readonly Tool[];
  /** Intervention texts for repeated calls, by position. When it is not empty, no tool runs. */
  readonly interventions: ReadonlyMap<number, string>;
  readonly work: ToolContext & Pick<RunContext, "span" | "isHeld">;
  readonly clock: Clock;
  readonly events: Events;
  /** Takes how far a call has got. */
  readonly report: (call: ToolCall, progress: ToolProgress) => void;
  /** Unset when no server may ask for forms. */
  readonly forms: FormsOptions | undefined;
}

/**
 * Returns the outcomes in call order, or undefined when the run was stopped. Calls without an outcome then stay open. While a call
 * waits for a person, no call with an approval begins. A call that has started a run is left to that run.
 */
export async function* runToolBatch(batch: ToolBatch): AsyncGenerator<DriverStep, ToolCallCompleted[] | undefined> {
  const outcomes = batch.calls.map(({ outcome }) => outcome);
  const isWaiting = batch.calls.some(isUndecided);
  const waiting = batch.calls.flatMap(({ outcome, approval, child }, position) =>
    outcome === undefined && child === undefined && !(isWaiting && approval !== undefined) ? [position] : [],
  );
  const running = new Map<number, Promise<CallEnd>>();
  const commits = new CommitsOfCalls();
  while (waiting.length > 0 || running.size > 0) {
    while (running.size < parallelCallsMax && waiting.length > 0) {
      // A frozen process may wake up after another replica has run these calls or reported them as interrupted. So it commits
      // first: the commit fails when this process has lost the run.
      if (!batch.work.isHeld()) {
        yield { kind: "commit", results: [], effects: {} };
        continue;
      }
      const position = waiting.shift() ?? 0;
      running.set(position, runOne(batch, position, commits));
    }
    const ended = await Promise.race([...running.values(), commits.wait()]);
    // An outcome that the stop itself caused says nothing about the call. A task that has begun does.
    for (const { results, effects, done } of commits.take()) {
      yield { kind: "commit", results, effects };
      done();
    }
    if (batch.work.signal.aborted) {
      return undefined;
    }
    if (ended === undefined) {
      continue;
    }
    const { position, outcome } = ended;
    running.delete(position);
    const closing = batch.forms === undefined ? {} : endForms(ended.call);
    yield {
      kind: "commit",
      results: [],
      effects: { toolOutcome: { turn: batch.turn, position, outcome }, ...closing },
    };
    outcomes[position] = ended.reached();
    failpoint("outcome.committed");
  }
  return outcomes.filter((outcome) => outcome !== undefined);
}

/** The end of a call. */
interface CallEnd {
  readonly position: number;
  readonly call: ToolCall;
  /** A call with an effect has its outcome in the transaction that stores it. */
  readonly outcome: ToolCallCompleted | SettleCall;
  /** Returns the outcome once it is stored. */
  readonly reached: () => ToolCallCompleted;
}

/** Commits that running calls wait for. */
class CommitsOfCalls {
  #waiting: { readonly results: readonly ResultInit[]; readonly effects: StepEffects; readonly done: () => void }[] =
    [];
  #signal = Promise.withResolvers<undefined>();

  /** Resolves when the results and the effects are durable. */
  readonly commit: CommitOfCall = (results, effects) =>
    new Promise((resolve) => {
      this.#waiting.push({ results, effects, done: resolve });
      this.#signal.resolve(undefined);
    });

  /** Resolves when there is something to commit. */
  wait(): Promise<undefined> {
    return this.#signal.promise;
  }

  take() {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#signal = Promise.withResolvers();
    return taken;
  }
}

async function runOne(batch: ToolBatch, position: number, commits: CommitsOfCalls): Promise<CallEnd> {
  const open = batch.calls[position];
  if (open === undefined) {
    throw new Error(`no call at position ${position}`);
  }
  const { call } = open;
  const startMs = batch.clock.monotonicMs();
  const span = batch.work.span.startTool({ name: call.name, callId: call.id, arguments: () => call.arguments });
  failpoint("tool.starting");
  const outcome = await outcomeOf(batch, open, position, { commits, traceParent: span.traceParent });
  failpoint("tool.ended");
  const finish = (known: ToolOutcome): ToolCallCompleted => {
    const isOk = "content" in known;
    span.end(isOk ? { result: () => known.content } : { error: known.error });
    const durationMs = batch.clock.monotonicMs() - startMs;
    batch.events.toolFinished({ tool: call.name, outcome: isOk ? "ok" : "error", durationMs });
    return present(call, known);
  };
  if (!("settle" in outcome)) {
    const completed = finish(outcome);
    return { position, call, outcome: completed, reached: () => completed };
  }
  const { settle } = outcome;
  let last: ToolOutcome = { error: "not run" };
  return {
    ...{ position, call },
    outcome: async (trx) => {
      last = await settle(trx);
      return present(call, last);
    },
    reached: () => finish(last),
  };
}

async function outcomeOf(
  batch: ToolBatch,
  open: OpenToolCall,
  position: number,
  { commits, traceParent }: { readonly commits: CommitsOfCalls; readonly traceParent: string | undefined },
): Promise<ToolOutcome | ToolEffect> {
  if (batch.interventions.size > 0) {
    return {
      error: batch.interventions.get(position) ?? "skipped: no tool of this turn was run, because one was repeated",
    };
  }
  const { call, approval, task } = open;
  const refusal = outcomeOfRefusal(open);
  if (refusal !== undefined) {
    return refusal;
  }
  const tool = batch.tools.find((each) => each.name === call.name);
  if (tool === undefined) {
    return { error: `unknown tool: ${call.name}; ${describeTools(batch.tools)}` };
  }
  if (position >= callsPerTurnMax) {
    return { error: `skipped: maximum ${callsPerTurnMax} calls in a turn` };
  }
  const hasBegun = approval === undefined ? batch.resumed : approval.state === "used";
  if (hasBegun && tool.afterCrash === "report" && task === undefined) {
    return { error: "interrupted: the process that ran this call was lost, and the call was not repeated" };
  }
  const { forms, turn } = batch;
  const context = {
    ...batch.work,
    call: { id: call.id, written: call.arguments, task, traceParent },
    keepTask: (kept: string) => commits.commit([], { toolTask: { turn, position, task: kept } }),
    ...(forms !== undefined && { ask: (form: AskedForm) => askForForm(form, call, forms, commits.commit) }),
    report: (progress: ToolProgress) => batch.report(call, progress),
  };
  const timeoutMs = tool.timeoutMs ?? callTimeoutMs;
  return await prepareCall(tool, call.arguments, context, { timeoutMs, clock: batch.clock });
}

/** Returns the outcome for the log. Lone surrogates, which a client's host may send, are replaced: they are invalid text. */
function present(call: ToolCall, outcome: ToolOutcome): ToolCallCompleted {
  const ending = "error" in outcome ? { error: outcome.error.toWellFormed() } : { result: printResult(outcome) };
  return create(ToolCallCompletedSchema, { toolCallId: call.id, toolName: call.name, ...ending });
}
