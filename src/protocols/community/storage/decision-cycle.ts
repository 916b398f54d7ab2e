// Decision cycles: the agents' turns, the actions that were begun, and their outcomes.

import { type Selectable, sql } from "kysely";
import { textArray, uuidArray } from "../../../platform/database/binary-array.ts";
import { type Db, isStorableText, type Transaction } from "../../../platform/database/database.ts";
import type { DecisionActionTable, DecisionAgentTable } from "./schema.ts";

/** The state of an agent before its next cycle. */
export interface AgentTurn {
  /** The session of its cycles; undefined when it was deleted or has to be replaced. */
  readonly session: string | undefined;
  /** The session to replace, if it still exists. */
  readonly oldSession: string | undefined;
  /** True while a cycle is under way. */
  readonly isInFlight: boolean;
  readonly cycles: number;
  /** Time since the newest cycle began; undefined before the first one. */
  readonly ageMs: number | undefined;
}

/** Locks an agent: until the end of the transaction no other transaction starts a cycle of this agent. */
export async function lockAgent(
  trx: Transaction,
  { agentId, sessionAgeMaxMs }: { agentId: string; sessionAgeMaxMs: number },
): Promise<AgentTurn> {
  await trx
    .insertInto("decision_agent")
    .values({ agent_id: agentId, session: null, run_id: null, cycle_time: null })
    .onConflict((conflict) => conflict.column("agent_id").doNothing())
    .execute();
  // A separate statement: a query that waits for the lock reads the other tables in a snapshot from before the wait.
  await sql`select from decision_agent where agent_id = ${agentId} for update`.execute(trx);
  const { rows } = await sql<{
    session: string | null;
    is_old: boolean;
    is_in_flight: boolean;
    cycles: number;
    age_ms: number | null;
  }>`
    select session.id as session, cycles, run.id is not null as is_in_flight,
      session_time < now() - ${sessionAgeMaxMs} * interval '1 millisecond' as is_old,
      (extract(epoch from now() - cycle_time) * 1000)::float8 as age_ms
    from decision_agent
    left join session on session.id = decision_agent.session and session.delete_time is null
    left join run on run.id = decision_agent.run_id and run.end_time is null
    where agent_id = ${agentId}`.execute(trx);
  const [row] = rows;
  if (row === undefined) {
    throw new Error(`agent ${agentId} has no row`);
  }
  const session = row.session ?? undefined;
  return {
    session: row.is_old ? undefined : session,
    oldSession: row.is_old ? session : undefined,
    isInFlight: row.is_in_flight,
    cycles: row.cycles,
    ageMs: row.age_ms ?? undefined,
  };
}

/** Sets the session of an agent. */
export async function setAgentSession(
  trx: Transaction,
  { agentId, session }: { agentId: string; session: string },
): Promise<void> {
  const changes = { session, session_time: sql<Date>`now()` };
  await trx.updateTable("decision_agent").set(changes).where("agent_id", "=", agentId).execute();
}

/** Inserts a cycle. The caller holds the agent's lock. */
export async function insertCycle(
  trx: Transaction,
  { runId, agentId, cycle }: { runId: string; agentId: string; cycle: number },
): Promise<void> {
  await trx.insertInto("decision_cycle").values({ run_id: runId, agent_id: agentId, cycle, decision: null }).execute();
  const changes = { run_id: runId, cycles: cycle, cycle_time: sql<Date>`now()` };
  await trx.updateTable("decision_agent").set(changes).where("agent_id", "=", agentId).execute();
}

/** An agent with its cycles and the number of queued feedback entries. */
export type DecisionAgentRow = Pick<Selectable<DecisionAgentTable>, "agent_id" | "run_id" | "cycles" | "cycle_time"> & {
  readonly is_in_flight: boolean;
  readonly feedback: number;
};

/** Returns the agents that have had a cycle. */
export async function findAgents(db: Db, agentIds: readonly string[]): Promise<DecisionAgentRow[]> {
  const { rows } = await sql<DecisionAgentRow>`
    select agent_id, run.id as run_id, cycles, cycle_time, run.id is not null and run.end_time is null as is_in_flight,
      (select count(*) from agent_feedback where agent_feedback.agent_id = decision_agent.agent_id) as feedback
    from decision_agent left join run on run.id = decision_agent.run_id
    where agent_id = any(${textArray(agentIds.filter(isStorableText))}::text[])`.execute(db);
  return rows;
}

/** Returns the agents whose last cycle is over and began at least an interval ago, and those without a cycle. */
export async function listDueAgents(
  db: Db,
  { agentIds, intervalMs }: { agentIds: readonly string[]; intervalMs: number },
): Promise<string[]> {
  const { rows } = await sql<{ agent_id: string }>`
    select agent_id from unnest(${textArray(agentIds)}::text[]) as named (agent_id)
    left join decision_agent using (agent_id)
    where not exists (select from run where run.id = decision_agent.run_id and run.end_time is null)
      and (cycle_time is null or cycle_time <= now() - ${intervalMs} * interval '1 millisecond')`.execute(db);
  return rows.map(({ agent_id }) => agent_id);
}

/** An action of a cycle. */
export type ActionRow = Omit<Selectable<DecisionActionTable>, "run_id">;

/** A cycle with its decision and its actions. */
export interface CycleRow {
  readonly agentId: string;
  readonly cycle: number;
  /** Undefined until the model has answered. */
  readonly decision: string | undefined;
  /** The actions that were begun or ended, in order. */
  readonly actions: readonly ActionRow[];
}

/** Finds a cycle. Returns undefined when it is unknown. */
export async function findCycle(db: Db, runId: string): Promise<CycleRow | undefined> {
  const row = await db
    .selectFrom("decision_cycle")
    .select(["agent_id", "cycle", "decision"])
    .where("run_id", "=", runId)
    .executeTakeFirst();
  if (row === undefined) {
    return undefined;
  }
  const actions = await db
    .selectFrom("decision_action")
    .select(["position", "attempt", "outcome"])
    .where("run_id", "=", runId)
    .orderBy("position")
    .execute();
  return { agentId: row.agent_id, cycle: row.cycle, decision: row.decision ?? undefined, actions };
}

/** Stores the model's decision. */
export async function saveDecision(
  trx: Transaction,
  { runId, decision }: { runId: string; decision: string },
): Promise<void> {
  await trx.updateTable("decision_cycle").set({ decision }).where("run_id", "=", runId).execute();
}

/** Stores that an action begins, with the data to find out later whether it was done. */
export async function beginAction(
  trx: Transaction,
  { runId, position, attempt }: { runId: string; position: number; attempt: string },
): Promise<void> {
  await trx
    .insertInto("decision_action")
    .values({ run_id: runId, position, attempt, outcome: null })
    .onConflict((conflict) => conflict.columns(["run_id", "position"]).doUpdateSet({ attempt }))
    .execute();
}

/** Stores the outcome of an action, also of an action that was never begun. */
export async function endAction(
  trx: Transaction,
  { runId, position, outcome }: { runId: string; position: number; outcome: string },
): Promise<void> {
  const end = { attempt: null, outcome };
  await trx
    .insertInto("decision_action")
    .values({ run_id: runId, position, ...end })
    .onConflict((conflict) => conflict.columns(["run_id", "position"]).doUpdateSet(end))
    .execute();
}

/** Deletes cycles and their actions. */
export async function deleteCycles(db: Db, runs: readonly string[]): Promise<void> {
  await sql`delete from decision_cycle where run_id = any(${uuidArray(runs)}::uuid[])`.execute(db);
}
