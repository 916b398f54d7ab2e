// The driver of a job in one region. It asks every model of the spec that is meant for the region every question, one after
// another, and each without the others as context. An answer is durable before the next question is asked. So a run continues
// with the next question after a takeover.
//
// B1  The spec is verified again before anything else, from the received bytes: a key revoked meanwhile stops what it signed.
// B2  Only the signed part of the spec is executed.

import { assertBudgetKnown, runBudgetOf } from "../../../agent/budget/budget.ts";
import type { Amount, DayBudget } from "../../../agent/budget/day-budget.ts";
import { addUsage, usageMessage } from "../../../agent/budget/usage.ts";
import type { Model } from "../../../agent/models/model.ts";
import { failed, parkOrFail } from "../../../agent/response/failure.ts";
import type { Response } from "../../../agent/response/respond.ts";
import type { Driver, DriverEnd, DriverStep, RunContext } from "../../../engine/runs/driver.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import type { OpenJobTask } from "../jobs/task.ts";
import { findJobOfRun } from "../storage/job.ts";
import type { JobSpec } from "../verification/job-spec.ts";
import { ask } from "./ask.ts";
import { answerOf, assistantSays, printOutput, type Question, userAsks } from "./output.ts";
import { checkpointOf, type Progress, readProgress } from "./progress.ts";

/** Dependencies and defaults of the driver. */
export interface BenchmarkOptions {
  readonly openTask: OpenJobTask;
  readonly resolveModel: (name: string) => Model;
  readonly clock: Clock;
  readonly events: Pick<Events, "budgetReached">;
  readonly dayBudget: DayBudget;
  readonly defaults: {
    /** The model for specs without models. */
    readonly model: string;
    readonly maxTokens: number;
    /** The budget of each run; 0 means no limit. */
    readonly runBudget: Amount;
  };
}

/** The name of the driver in the database. */
export const benchmarkName = "benchmark";

/** Creates the driver. */
export function createBenchmark(options: BenchmarkOptions): Driver {
  return {
    name: benchmarkName,
    recovery: "resume",
    run: (context) => run(context, options),
    describeForReceipt: async (db, id) => {
      const job = await findJobOfRun(db, id);
      const sha256 = job && Buffer.from(job.canonical_sha256).toString("hex");
      return job === undefined ? {} : { job_id: job.id, region: job.region, job_spec_sha256: sha256 };
    },
  };
}

async function* run(context: RunContext, options: BenchmarkOptions): AsyncGenerator<DriverStep, DriverEnd> {
  const task = await options.openTask(context);
  if ("problem" in task) {
    return { ...failed(task.problem), code: task.code };
  }
  const { spec, region } = task;
  const questions = listQuestions(spec, region, options.defaults.model);
  if (questions.length === 0) {
    return failed(nothingToAsk(spec, region));
  }
  const models = resolveModels(questions, context, options);
  if (models instanceof Fault) {
    return failed(models.message);
  }
  return yield* askAll({ context, options, spec, region, questions, models });
}

interface Work {
  readonly context: RunContext;
  readonly options: BenchmarkOptions;
  readonly spec: JobSpec;
  readonly region: string;
  readonly questions: readonly Question[];
  readonly models: ReadonlyMap<string, Model>;
}

async function* askAll(work: Work): AsyncGenerator<DriverStep, DriverEnd> {
  const { context, questions, region } = work;
  let progress = readProgress(context);
  for (const [index, question] of questions.entries()) {
    if (index < progress.answers.length) {
      continue;
    }
    const turn = index + 1;
    yield { kind: "append", result: { payload: { case: "turnStarted", value: { turn } } } };
    const answer = yield* ask(requestOf(work, question), { turn, before: progress.usage });
    const usage = addUsage(progress.usage, answer.usage);
    if ("why" in answer) {
      const checkpoint = () => checkpointOf({ ...progress, usage });
      return parkOrFail(answer, { context, events: work.options.events, usage, checkpoint });
    }
    progress = { answers: [...progress.answers, answerOf(answer)], usage };
    yield commitAnswer(question, answer, progress);
  }
  return {
    kind: "completed",
    finishReason: "stop",
    message: printOutput({ region, questions, answers: progress.answers }),
    turns: questions.length,
    usage: usageMessage(progress.usage),
  };
}

/** Commits the answer together with the checkpoint after it. */
function commitAnswer(question: Question, answer: Response, progress: Progress): DriverStep {
  const message = assistantSays(answer);
  return {
    kind: "commit",
    results: [{ usage: usageMessage(answer.usage), payload: { case: "messageCompleted", value: { message } } }],
    effects: { transcript: [userAsks(question), message], checkpoint: checkpointOf(progress) },
  };
}

function requestOf({ context, options, spec, models }: Work, question: Question): Parameters<typeof ask>[0] {
  const { clock, dayBudget, defaults } = options;
  const model = models.get(question.model);
  if (model === undefined) {
    throw new Error(`model ${question.model} was not resolved`);
  }
  const runMax = runBudgetOf(context.agent, defaults.runBudget);
  const { maxTokens } = defaults;
  return {
    context,
    model,
    text: question.text,
    maxTokens,
    timeoutMs: spec.constraints.providerTimeoutMs,
    runMax,
    dayBudget,
    clock,
  };
}

/** Lists questions in the order of the spec: all questions to the first model, then to the next. */
function listQuestions(spec: JobSpec, region: string, defaultModel: string): Question[] {
  const names =
    spec.models.length === 0
      ? [defaultModel]
      : spec.models.filter(({ regions }) => regions.length === 0 || regions.includes(region)).map(({ id }) => id);
  const texts = spec.questions.length > 0 ? spec.questions : promptOf(spec);
  return names.flatMap((model) => texts.flatMap((text) => Array<Question>(spec.runs).fill({ model, text })));
}

/** Returns the one question of a spec without questions, or nothing. */
function promptOf({ benchmark }: JobSpec): readonly string[] {
  const prompt = benchmark.input.data.get("prompt");
  return typeof prompt === "string" && prompt !== "" ? [prompt] : [];
}

function nothingToAsk({ models }: JobSpec, region: string): string {
  return models.length > 0
    ? `the spec has no model for region ${region}, or no question: add questions, or benchmark.input.data.prompt`
    : "the spec has no question: add questions, or benchmark.input.data.prompt; containers are not run";
}

function resolveModels(
  questions: readonly Question[],
  { agent }: RunContext,
  { resolveModel, dayBudget, defaults }: BenchmarkOptions,
): ReadonlyMap<string, Model> | Fault {
  try {
    const models = new Map(questions.map(({ model }) => [model, resolveModel(model)]));
    const runMax = runBudgetOf(agent, defaults.runBudget);
    for (const model of models.values()) {
      assertBudgetKnown(model, runMax, dayBudget.max);
    }
    return models;
  } catch (error) {
    if (error instanceof Fault) {
      return error;
    }
    throw error;
  }
}
