// The handlers of DecisionService: agents that decide on their own, cycle by cycle.

import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Communication_Direction } from "#gen/runnel/community/v1/decision_pb.js";
import type { DecisionService } from "#gen/runnel/community/v1/decision_service_pb.js";
import type { ServiceDeps } from "../../../api/deps.ts";
import { nextPageToken, nextTokenOf, pageSize } from "../../../api/page.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { traceParentOf } from "../../../platform/base/trace-parent.ts";
import type { Config } from "../../../platform/config/keys.ts";
import { isStorableText } from "../../../platform/database/database.ts";
import { checkAction } from "../decisions/action.ts";
import { printCommunication } from "../decisions/communication-file.ts";
import { parseDecision } from "../decisions/parse.ts";
import { startCycle } from "../decisions/start.ts";
import { type CommunicationRow, listCommunications } from "../storage/communication.ts";
import { type DecisionAgentRow, findAgents } from "../storage/decision-cycle.ts";

/** Creates the handlers of DecisionService. */
export function createDecisionService(deps: ServiceDeps): ServiceImpl<typeof DecisionService> {
  const { db, cursors, config } = deps;
  return {
    parseDecision: ({ text }) => readDecision(text, config),
    runCycle: async ({ agentId }, { values }) => {
      requireAgent(config, agentId);
      const runId = await startCycle(deps, { agentId, intervalMs: 0, traceParent: traceParentOf(values) });
      return runId === undefined ? { skipped: true, reason: "Runner cycle already in-flight" } : { runId };
    },
    listCommunications: async ({ agentId, pageSize: size, pageToken }) => {
      const scope = ["communications", agentId];
      const page = await readPage(deps, { agentId, size, before: cursors.decode(scope, pageToken) });
      return {
        communications: page.rows.map(communicationToProto),
        nextPageToken: nextTokenOf(page, ({ id }) => cursors.encode(scope, id)),
      };
    },
    getCommunicationLog: async ({ agentId, pageSize: size }) => {
      const { rows } = await readPage(deps, { agentId, size, before: undefined });
      return { text: rows.reverse().map(printRow).join("") };
    },
    listDecisionAgents: async (request) => {
      const limit = pageSize(request.pageSize);
      const scope = ["decision-agents"];
      const after = cursors.decode(scope, request.pageToken) ?? "";
      const ids = config.decisionsAgents.map(({ agent }) => agent).sort(compareText);
      const page = ids.filter((id) => compareText(id, after) > 0).slice(0, limit);
      const rows = new Map((await findAgents(db, page)).map((row) => [row.agent_id, row]));
      return {
        agents: page.map((agentId) => ({ agentId, ...agentToProto(rows.get(agentId)) })),
        nextPageToken: nextPageToken(page, limit, (last) => cursors.encode(scope, last)),
      };
    },
  };
}

/** Parses a decision as a cycle does. It adds the problem of each invalid action, as far as the check needs no community. */
function readDecision(text: string, { decisionsNewerActions: newerActions }: Config) {
  const { actions, repaired, error } = parseDecision(text);
  const checked = actions.map((raw, position) => ({ position, action: checkAction(raw, { newerActions }) }));
  return {
    actions: JSON.stringify(actions),
    repaired,
    error: error?.message ?? "",
    problems: checked.flatMap(({ position, action }) => ("error" in action ? [{ position, error: action.error }] : [])),
  };
}

async function readPage(
  { db }: ServiceDeps,
  { agentId, size, before }: { agentId: string; size: number; before: string | undefined },
) {
  return isStorableText(agentId)
    ? await listCommunications(db, { agentId, before, limit: pageSize(size) })
    : { rows: [], hasMore: false };
}

function requireAgent({ decisionsAgents }: Config, agentId: string): void {
  if (decisionsAgents.every(({ agent }) => agent !== agentId)) {
    throw new Fault("AGENT_NOT_FOUND", "agent not found: name it in RUNNEL_DECISIONS_AGENTS");
  }
}

function agentToProto(row: DecisionAgentRow | undefined) {
  if (row === undefined) {
    return {};
  }
  const { run_id, cycles, cycle_time, is_in_flight, feedback } = row;
  return {
    cycleCount: cycles,
    latestRunId: run_id ?? "",
    ...(cycle_time !== null && { cycleTime: timestampFromDate(cycle_time) }),
    isInFlight: is_in_flight,
    queuedFeedback: feedback,
  };
}

function communicationToProto(row: CommunicationRow) {
  return {
    id: row.id,
    createdAt: timestampFromDate(row.create_time),
    direction: directions[row.direction],
    actionTypes: row.action_types,
    instanceId: row.instance_id,
    port: row.port,
    pid: row.pid,
    agentId: row.agent_id,
    content: row.content,
  };
}

function printRow(row: CommunicationRow): string {
  const { instance_id: instanceId, port, pid, agent_id: agentId, direction, action_types: actionTypes, content } = row;
  const localTime = row.create_time.toLocaleString("en-US");
  return printCommunication({ localTime, instanceId, port, pid, agentId, direction, actionTypes, content });
}

const directions = {
  agent_to_runner: Communication_Direction.AGENT_TO_RUNNER,
  runner_to_agent: Communication_Direction.RUNNER_TO_AGENT,
} as const satisfies Record<CommunicationRow["direction"], Communication_Direction>;

function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
