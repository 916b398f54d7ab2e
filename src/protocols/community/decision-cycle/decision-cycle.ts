// The driver of decision cycles: shows an agent's model its community and executes the actions that the model decides on.
//
//   general, context ──→ model ──→ decision, durable ──→ action by action ──→ completed
//
// C1  The model's answer is durable before any of its actions starts, together with the delivery of the feedback. So a model is
//     asked again only when none of its actions has started, and no failure loses feedback.
// C2  No action is executed twice. A read may be repeated, because it changes nothing. The driver signs a write to the
//     community and stores it with its nonce before it sends it. A replica that finds a begun write sends the same bytes once
//     more. A nonce is good once, so the answer decides:
//       - 2xx: the write had not arrived; it is done now.
//       - 401: its nonce is used or too old. The driver searches the context for an entry of this agent with the same words. It
//         must be newer than the cycle's context and not from another action. Without such an entry the driver reports the
//         action as interrupted.
//       - any other refusal: the nonce was unused until now, so the write had not been done, and is not done.
//     A request status leaves no entry, so after a 401 it is reported as interrupted. The same holds for a write whose answer
//     was lost on the way. A transaction is signed and stored before it is sent, and any chain executes the same bytes once.
// C3  The driver keeps no state in memory: a replica resumes a cycle from the database.
// C4  An action that fails reports its error, and the next action runs. A cycle fails when its agent cannot be asked or its
//     answer cannot be read.
// C5  Secrets are removed from everything that is logged.

import { assertBudgetKnown } from "../../../agent/budget/budget.ts";
import type { Amount, DayBudget } from "../../../agent/budget/day-budget.ts";
import { type UsageTotals, usageMessage } from "../../../agent/budget/usage.ts";
import { takesSchema } from "../../../agent/models/catalogue.ts";
import type { Model } from "../../../agent/models/model.ts";
import { failed, failWithoutResponse, stopped } from "../../../agent/response/failure.ts";
import { respond } from "../../../agent/response/respond.ts";
import type { Driver, DriverEnd, DriverStep, FailedEnd, RunContext } from "../../../engine/runs/driver.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { type Decision, parseDecision } from "../decisions/parse.ts";
import { renderPrompt } from "../decisions/prompt.ts";
import { redactJson } from "../decisions/redact.ts";
import { decisionFormat } from "../decisions/schema.ts";
import { decisionDriverName } from "../decisions/start.ts";
import type { CycleRow } from "../storage/decision-cycle.ts";
import { type ActingOptions, act, commit } from "./act.ts";
import { type Community, readAgentContext } from "./community.ts";
import { inboxMax } from "./feedback.ts";
import { fitContext } from "./fit-context.ts";
import type { ForumAgentKey } from "./forum-client.ts";
import { assistantMessage } from "./log.ts";
import { redactSpan } from "./redact-span.ts";
import { redactSteps } from "./redact-steps.ts";
import { communicationOf } from "./stamp.ts";

/** Dependencies and limits of the driver. */
export interface DecisionCycleOptions extends ActingOptions {
  /** Finds the token of an agent of the settings. Returns undefined when the settings do not name the agent. */
  readonly findKey: (agentId: string) => ForumAgentKey | undefined;
  readonly findCycle: (runId: string) => Promise<CycleRow | undefined>;
  readonly listFeedback: (agentId: string, limit: number) => Promise<readonly { id: string; content: string }[]>;
  readonly prompts: { readonly system: string; readonly user: string };
  readonly resolveModel: (name: string) => Model;
  readonly model: string;
  readonly maxTokens: number;
  readonly runBudget: Amount;
  readonly dayBudget: DayBudget;
  readonly events: Pick<Events, "budgetReached">;
}

/** How long the driver may go on after a stop. The forum answers a write that is under way within this time. */
const stopGraceMs = 12_000;

/** Creates the driver of decision cycles; see C1 to C5. */
export function createDecisionCycle(options: DecisionCycleOptions): Driver {
  return {
    name: decisionDriverName,
    recovery: "resume",
    stopGraceMs,
    run: (context) => run({ ...options, context }),
  };
}

interface Cycle extends DecisionCycleOptions {
  readonly context: RunContext;
}

/** The model's answer and the facts needed to act on it. Stored as JSON. */
interface Decided {
  readonly text: string;
  /** True when the model was asked for the schema of a decision. Undefined means false. */
  readonly isWrapped?: boolean;
  readonly community: Community;
  readonly usage: UsageTotals;
}

async function* run(cycle: Cycle): AsyncGenerator<DriverStep, DriverEnd> {
  const row = await cycle.findCycle(cycle.context.runId);
  if (row === undefined) {
    return failed("the cycle no longer exists");
  }
  const key = cycle.findKey(row.agentId);
  if (key === undefined) {
    return failed(`agent ${row.agentId} is no longer in decisions.agents`);
  }
  const decided: Decided | DriverEnd =
    row.decision === undefined ? yield* decide(cycle, key) : JSON.parse(row.decision);
  if ("kind" in decided) {
    return decided;
  }
  const decision = readDecision(decided);
  const usage = usageMessage(decided.usage);
  if (decision.error !== undefined) {
    return { ...failed(cycle.redact(decision.error.message)), usage, turns: 1 };
  }
  const { community } = decided;
  const acting = { ...cycle, key, community, rows: row.actions, signal: cycle.context.signal };
  const actions = yield* act(acting, decision.valid);
  if (actions === undefined) {
    return { ...stopped, usage };
  }
  const result = { ok: true, cycleCount: row.cycle, actionCount: actions.length, actions };
  const message = assistantMessage(redactJson(result, cycle.redact));
  return { kind: "completed", finishReason: "stop", message, turns: 1, usage };
}

/** Reads the context, asks the model and commits its answer. Returns a `DriverEnd` when the cycle ends without a decision. */
async function* decide(cycle: Cycle, key: ForumAgentKey): AsyncGenerator<DriverStep, Decided | DriverEnd> {
  const { context, forum, redact, dayBudget, runBudget, maxTokens } = cycle;
  const { signal } = context;
  const model = findModel(cycle);
  if ("kind" in model) {
    return model;
  }
  const read = await readAgentContext(forum, key, signal);
  if (signal.aborted) {
    return stopped;
  }
  if ("error" in read) {
    return failed(redact(read.error));
  }
  failpoint("context.read");
  const feedback = await cycle.listFeedback(key.agentId, inboxMax);
  const runnerInbox = feedback.map(({ content }) => JSON.parse(content));
  const shown = fitContext({ ...read.context, runnerInbox }, model, maxTokens);
  const text = renderPrompt(cycle.prompts.user, shown);
  const isWrapped = takesSchema(model, { hasTools: false }) === true;
  const request = {
    system: cycle.prompts.system,
    messages: [{ role: "user", text } as const],
    tools: [],
    maxTokens,
    temperature: undefined,
    ...(isWrapped && { responseFormat: decisionFormat(cycle) }),
  };
  yield { kind: "append", result: { payload: { case: "turnStarted", value: { turn: 1 } } } };
  const { runId, client } = context;
  const redacted = { runId, client, signal, span: redactSpan(context.span, redact) };
  const asked = respond({
    ...{ context: redacted, model, request, turn: 1, before: {}, runMax: runBudget, dayBudget },
    isSecret: true,
  });
  const response = yield* redactSteps(asked, redact, 1);
  if ("why" in response) {
    const { context, events, redact } = cycle;
    return failWithoutResponse(response, { context, events, usage: response.usage, describe: redact });
  }
  const { usage } = response;
  if (response.finishReason === "content-filter") {
    const why = response.detail ?? "content filter";
    return { ...failed(redact(`the provider withheld the response: ${why}`)), usage: usageMessage(usage), turns: 1 };
  }
  const decided: Decided = { text: response.text, isWrapped, community: read.community, usage };
  yield commitDecision(
    cycle,
    key,
    decided,
    feedback.map(({ id }) => id),
  );
  failpoint("decision.committed");
  return decided;
}

/** Commits the answer, the delivery of the feedback and the communication entry in one transaction. */
function commitDecision(cycle: Cycle, { agentId }: ForumAgentKey, decided: Decided, delivered: readonly string[]) {
  const content = cycle.redact(decided.text);
  const message = assistantMessage(content);
  const { strictActionTypes } = readDecision(decided);
  const usage = usageMessage(decided.usage);
  const actionTypes = strictActionTypes.map(cycle.redact);
  const said = communicationOf({ agentId, direction: "agent_to_runner", actionTypes, content }, cycle);
  return commit([{ usage, payload: { case: "messageCompleted", value: { message } } }], {
    decision: JSON.stringify(decided),
    delivered,
    said,
  });
}

function readDecision({ text, isWrapped = false }: Decided): Decision {
  return parseDecision(text, { isWrapped });
}

function findModel({ resolveModel, model: name, runBudget, dayBudget }: Cycle): Model | FailedEnd {
  try {
    const model = resolveModel(name);
    assertBudgetKnown(model, runBudget, dayBudget.max);
    return model;
  } catch (error) {
    if (error instanceof Fault) {
      return failed(error.message);
    }
    throw error;
  }
}
