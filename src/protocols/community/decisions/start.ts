// Starts a cycle: a run in the agent's session, one at a time over all replicas.
//
// All cycles belong to one client, `key/decisions`. A caller with a key of the client `decisions` (from `auth.api_keys`, or
// made by AuthService) follows their logs like those of any other run. The admin token alone starts them. An agent's session is
// replaced once a day and the old one deleted: runs and transcripts live as long as their session.

import { create, toBinary } from "@bufbuild/protobuf";
import { MessageSchema } from "#gen/runnel/v1/message_pb.js";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { type StartDeps, startRun } from "../../../engine/runs/start.ts";
import { insertSession, markSessionDeleted } from "../../../engine/storage/session.ts";
import { dayMs } from "../../../platform/base/clock.ts";
import { failpoint } from "../../../platform/base/failpoint.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import type { Transaction } from "../../../platform/database/database.ts";
import { inTransaction } from "../../../platform/database/in-transaction.ts";
import { type AgentTurn, insertCycle, lockAgent, setAgentSession } from "../storage/decision-cycle.ts";

/** The name of the driver of decision cycles. */
export const decisionDriverName = "decision-cycle";

/** The client that owns the runs of cycles. */
const decisionClient = "key/decisions";

const sessionAgeMaxMs = dayMs;

/** The agent whose cycle starts, and when it may start. */
export interface CycleRequest {
  readonly agentId: string;
  /** The minimum time since the beginning of the last cycle; 0 starts at once. */
  readonly intervalMs: number;
  readonly traceParent: string | undefined;
}

/** Starts a cycle and returns its run. Returns undefined when a cycle is under way, or when it is too early. */
export async function startCycle(deps: StartDeps, request: CycleRequest): Promise<string | undefined> {
  try {
    const runId = await inTransaction(deps.db, (trx) => startWithin(trx, deps, request));
    failpoint("cycle.committed");
    return runId;
  } catch (error) {
    if (error instanceof Fault && error.reason === "SESSION_BUSY") {
      return undefined;
    }
    throw error;
  }
}

async function startWithin(
  trx: Transaction,
  deps: StartDeps,
  { agentId, intervalMs, traceParent }: CycleRequest,
): Promise<string | undefined> {
  const turn = await lockAgent(trx, { agentId, sessionAgeMaxMs });
  if (turn.isInFlight || (turn.ageMs ?? intervalMs) < intervalMs) {
    return undefined;
  }
  const session = turn.session ?? (await replaceSession(trx, agentId, turn, newUuid(deps.clock.nowMs())));
  const cycle = turn.cycles + 1;
  const text = `cycle ${cycle} of agent ${agentId}`;
  const input = toBinary(
    MessageSchema,
    create(MessageSchema, { role: "user", content: { case: "text", value: text } }),
  );
  const runId = await startRun(trx, deps, {
    client: decisionClient,
    session,
    driver: decisionDriverName,
    agentName: decisionDriverName,
    input,
    traceParent,
  });
  await insertCycle(trx, { runId, agentId, cycle });
  failpoint("cycle.written");
  return runId;
}

async function replaceSession(
  trx: Transaction,
  agentId: string,
  { oldSession }: AgentTurn,
  id: string,
): Promise<string> {
  if (oldSession !== undefined) {
    await markSessionDeleted(trx, oldSession);
  }
  const agent = toBinary(AgentSchema, create(AgentSchema, { name: decisionDriverName }));
  await insertSession(trx, {
    id,
    client: decisionClient,
    // Not the agent's id, which a caller with a key of this client may already have taken as a name.
    name: id,
    agent,
    workDir: undefined,
    callback: undefined,
  });
  await setAgentSession(trx, { agentId, session: id });
  return id;
}
