// Executes the actions of a decision in order. An action that fails does not stop the next one.

import type { ResultInit } from "../../../engine/log/result.ts";
import type { CommitStep, DriverStep, WriteOwn } from "../../../engine/runs/driver.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Transaction } from "../decisions/action.ts";
import type { Json, JsonObject } from "../decisions/json.ts";
import { type Redact, redactJson } from "../decisions/redact.ts";
import type { Chain } from "../evm/chain.ts";
import type { ActionRow } from "../storage/decision-cycle.ts";
import { type Community, objectOf } from "./community.ts";
import { deliver } from "./deliver.ts";
import { applyDecided, type DecidedEffects } from "./effects.ts";
import { actionTypeOf, feedbackOf, queueFullError, queueState } from "./feedback.ts";
import { errorOf, type ForumAgentKey, type ForumClient, NoAnswer, type SignedWrite } from "./forum-client.ts";
import { type ActionEnd, actionEnded, actionStarted } from "./log.ts";
import { type FeedbackType, type Plan, planAction, type WritePlan } from "./plan.ts";
import { communicationOf, type Stamp } from "./stamp.ts";
import { type TransactOptions, transact } from "./transact.ts";

/** Dependencies that execute actions: the forum, the chain, the wallet lock and the redaction of secrets. */
export interface ActingOptions {
  readonly clock: Clock;
  readonly forum: ForumClient;
  /** When no chain is configured, it answers every call with an error that says so. */
  readonly chain: Chain;
  readonly tryWalletLock: TransactOptions["tryWalletLock"];
  readonly redact: Redact;
  readonly holdsSecret: (text: string) => boolean;
  readonly newerActions: boolean;
  /** Counts the entries of feedback that were not yet delivered to the agent. */
  readonly countFeedback: (agentId: string) => Promise<number>;
  readonly stamp: () => Stamp;
}

/** One execution: the agent, its community and the state that earlier attempts left. */
export interface Acting extends ActingOptions {
  readonly key: ForumAgentKey;
  readonly community: Community;
  /** Actions that were begun before, by this process or another one. */
  readonly rows: readonly ActionRow[];
  readonly signal: AbortSignal;
}

/** An entry of `actions` in the cycle's result. */
export type ActionOutcome = { readonly action: Json; readonly communitySlug: Json } & ActionEnd;

/** The maximum number of actions in a cycle. Only a confused model lists more; actions past it are refused. */
const actionsMax = 50;

/** Executes the actions and returns their outcomes. Returns undefined when the run must stop before all are done. */
export async function* act(
  acting: Acting,
  actions: readonly JsonObject[],
): AsyncGenerator<DriverStep, readonly ActionOutcome[] | undefined> {
  const outcomes: ActionOutcome[] = [];
  for (const [position, raw] of actions.entries()) {
    const row = acting.rows.find((each) => each.position === position);
    if (row?.outcome) {
      outcomes.push(JSON.parse(row.outcome));
      continue;
    }
    if (acting.signal.aborted) {
      return undefined;
    }
    const task: Task = { ...acting, raw, position, attempt: row?.attempt ?? undefined, outcomes };
    const plan = planOf(task);
    const done = (await refuseWhenFull(task, plan)) ?? (yield* doAction(task, plan));
    if (done === undefined) {
      return undefined;
    }
    const outcome = { action: raw.action ?? null, communitySlug: raw.communitySlug ?? null, ...done.end };
    outcomes.push(outcome);
    yield settle(task, done, outcome);
    failpoint("action.settled");
  }
  return outcomes;
}

interface Task extends Acting {
  readonly raw: JsonObject;
  readonly position: number;
  /** The stored attempt of an earlier begin, by this process or another one. */
  readonly attempt: string | undefined;
  readonly outcomes: readonly ActionOutcome[];
}

interface Done {
  readonly end: ActionEnd;
  /** The log already holds the start of this action. */
  readonly isBegun?: boolean;
  /** Feedback that the agent gets in its next cycle. */
  readonly feedback?: { readonly type: FeedbackType; readonly result: Json };
}

function planOf({ raw, position, ...acting }: Task): Plan {
  if (position >= actionsMax) {
    return { kind: "refused", error: `not done: maximum ${actionsMax} actions in a cycle` };
  }
  return planAction(raw, acting);
}

/**
 * Returns a refusal when the feedback queue cannot take the action's result. Returns undefined when it can. A begun transaction
 * may be on the chain, so its result is always kept. When the queue is full, only the first refused action leaves an entry,
 * which gives the reason.
 */
async function refuseWhenFull({ raw, attempt, countFeedback, key }: Task, plan: Plan): Promise<Done | undefined> {
  const type = feedbackTypeOf(raw, plan);
  const state = type && attempt === undefined ? queueState(await countFeedback(key.agentId)) : "open";
  if (type === undefined || state === "open") {
    return undefined;
  }
  const end = { error: queueFullError };
  return { end, ...(state === "noting" && { feedback: { type, result: end } }) };
}

/** Returns the type of feedback that an action leaves in every case. Returns undefined when it leaves no feedback. */
function feedbackTypeOf(raw: JsonObject, plan: Plan): FeedbackType | undefined {
  return plan.kind === "read" ? plan.type : isTx(raw) ? "tx_feedback" : undefined;
}

async function* doAction(task: Task, plan: Plan): AsyncGenerator<DriverStep, Done | undefined> {
  switch (plan.kind) {
    case "refused": {
      const end = { error: plan.error };
      return isTx(task.raw) ? withTxFeedback(end) : { end };
    }
    case "write":
      return yield* doWrite(task, plan);
    case "read":
      return await doRead(task, plan);
    case "tx":
      return yield* doTx(task, plan.tx);
    default:
      return plan satisfies never;
  }
}

async function* doWrite(task: Task, { write, trace }: WritePlan): AsyncGenerator<DriverStep, Done | undefined> {
  const { forum, key, signal, attempt } = task;
  const signed: SignedWrite | ActionEnd | undefined =
    attempt === undefined ? await sign(task, write) : (JSON.parse(attempt) as SignedWrite);
  if (signed === undefined) {
    return undefined;
  }
  if (!("nonce" in signed)) {
    return { end: signed };
  }
  if (attempt === undefined) {
    yield begin(task, JSON.stringify(signed));
    failpoint("action.begun");
  }
  const { clock, community } = task;
  const delivery = { forum, key, clock, community, signal, writtenIds: idsOf(task.outcomes) };
  const end = await deliver(delivery, signed, { trace, wasBegun: attempt !== undefined });
  failpoint("action.sent");
  return end && { end: end as ActionEnd, isBegun: true };
}

async function sign(
  { forum, key, signal }: Task,
  write: WritePlan["write"],
): Promise<SignedWrite | ActionEnd | undefined> {
  const signed = await forum.sign(key, write, signal).catch(errorOfNoAnswer);
  if (signal.aborted) {
    return undefined;
  }
  return "status" in signed ? { error: errorOf(signed) } : signed;
}

/** Reads from the community. A read may safely be repeated. */
async function doRead({ forum, key, signal }: Task, plan: Plan & { kind: "read" }): Promise<Done | undefined> {
  const answer = await forum.read(key, plan.path, signal).catch(errorOfNoAnswer);
  if (signal.aborted) {
    return undefined;
  }
  if ("error" in answer) {
    return { end: answer, feedback: { type: plan.type, result: answer } };
  }
  if (answer.status !== 200) {
    const end = { error: errorOf(answer) };
    return { end, feedback: { type: plan.type, result: end } };
  }
  const { body } = answer;
  const result = (plan.member === "" ? body : (body[plan.member] ?? null)) as Json;
  return { end: { result: { queued: true } }, feedback: { type: plan.type, result } };
}

async function* doTx(task: Task, tx: Transaction): AsyncGenerator<DriverStep, Done | undefined> {
  const { attempt, community } = task;
  const call = { tx, contracts: community.contracts, attempt };
  const done = yield* transact(task, call, (prepared) => begin(task, prepared));
  if (done === undefined) {
    return undefined;
  }
  const result = JSON.parse(JSON.stringify(done.result));
  const end = "error" in result ? { error: String(result.error) } : { result };
  return { end, isBegun: done.isBegun, feedback: { type: "tx_feedback", result } };
}

function withTxFeedback(end: { readonly error: string }): Done {
  return { end, feedback: { type: "tx_feedback", result: end } };
}

function begin({ raw, position, redact }: Task, attempt: string): CommitStep {
  return commit([actionStarted(raw, position, redact)], { begun: { position, attempt } });
}

function settle(task: Task, { end, isBegun = false, feedback }: Done, outcome: ActionOutcome): CommitStep {
  const { raw, position, redact } = task;
  const started = isBegun ? [] : [actionStarted(raw, position, redact)];
  return commit([...started, actionEnded(raw, position, end, redact)], {
    ended: { position, outcome: JSON.stringify(outcome) },
    ...(feedback && tell(task, feedback)),
  });
}

/** Queues feedback for the next cycle, and adds it to the communication log. */
function tell(task: Task, { type, result }: NonNullable<Done["feedback"]>): Pick<DecidedEffects, "feedback" | "said"> {
  const { key, clock, redact, raw } = task;
  const { agentId } = key;
  const content = redactJson(feedbackOf(type, raw, result), redact, 2);
  return {
    feedback: { id: newUuid(clock.nowMs()), agentId, content },
    said: communicationOf({ agentId, direction: "runner_to_agent", actionTypes: [actionTypeOf[type]], content }, task),
  };
}

/**
 * Returns a commit step with a checkpoint. Every step is a valid checkpoint: a takeover never discards the log written so far.
 */
export function commit(results: readonly ResultInit[], decided: DecidedEffects): CommitStep {
  const own: WriteOwn = (trx, { runId }) => applyDecided(trx, runId, decided);
  return { kind: "commit", results, effects: { own, checkpoint: { turn: 1, state: new Uint8Array() } } };
}

function isTx({ action }: JsonObject): boolean {
  return typeof action === "string" && action.trim() === "tx";
}

/** Returns the ids of the threads and comments that this cycle has written. */
function idsOf(outcomes: readonly ActionOutcome[]): ReadonlySet<string> {
  const results = outcomes.flatMap((outcome) => ("result" in outcome ? [objectOf(outcome.result)] : []));
  return new Set(results.flatMap(({ thread, comment }) => [thread, comment].map((each) => String(objectOf(each).id))));
}

function errorOfNoAnswer(error: unknown): { readonly error: string } {
  if (error instanceof NoAnswer) {
    return { error: error.message };
  }
  throw error;
}
