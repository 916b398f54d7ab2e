// Tool calls of runners: the description of a tool, and its execution. Tools work in the directory of the run's own session, as
// confined as the tools of any session. Those of MCP servers are the ones that the run keeps, called as the agent loop calls them.
//
// A repeated call is executed again: no key distinguishes a retry from another call. A call whose answer was lost may have had
// its effects.
//
// The memory tools of a runner work on the state that the runner also reads and writes by calls of its own, and on the memory of its
// client, which agents share.

import { create } from "@bufbuild/protobuf";
import type { CallToolRequest, GetToolRequest } from "#gen/runnel/host/v1/host_tool_service_pb.js";
import { MemoryScope } from "#gen/runnel/v1/memory_pb.js";
import { AgentToolsSchema } from "#gen/runnel/v1/session_pb.js";
import { prepareCall } from "../../../agent/tools/call.ts";
import { printResult } from "../../../agent/tools/result-json.ts";
import type { Tool, ToolOutcome } from "../../../agent/tools/tool.ts";
import type { Toolbox } from "../../../agent/tools/toolbox.ts";
import { type FindMemory, memoryOfClient } from "../../../engine/memory/owner.ts";
import type { WorkDirs } from "../../../engine/sessions/work-dirs.ts";
import { findSessionOfRun } from "../../../engine/storage/session.ts";
import type { Clock } from "../../../platform/base/clock.ts";
import { Fault } from "../../../platform/base/fault.ts";
import { newUuid } from "../../../platform/base/ids.ts";
import { readObjectText } from "../../../platform/base/json/object-text.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Events } from "../../../platform/telemetry/events.ts";
import { reasons } from "../reasons.ts";
import { type StateScope, stateKey } from "../runners/scope.ts";
import { takeToolCall } from "../storage/host-usage.ts";
import { type HostRun, holdHostRun } from "./access.ts";
import { type ApprovalDeps, useApprovalOfCall } from "./approvals.ts";
import type { RunServers } from "./run-servers.ts";

/** Dependencies of tool calls. */
export interface ToolDeps extends ApprovalDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly events: Events;
  readonly toolbox: Pick<Toolbox, "select">;
  readonly workDirs: Pick<WorkDirs, "open">;
  readonly runServers: Pick<RunServers, "lease">;
  /** The maximum tool calls of one run. */
  readonly toolCallsMax: number;
}

/** A tool as a runner and its model see it. */
export interface ToolDetail {
  readonly name: string;
  readonly description: string;
  /** The parameters as JSON Schema. */
  readonly parameters: object;
}

/** The maximum duration of a call: shorter than the protocol's limit, which leaves the tool a moment to end. */
const callTimeoutMs = 170_000;

/** Returns a tool of the service; undefined when it does not offer the tool. */
export function findTool({ toolbox }: Pick<ToolDeps, "toolbox">, name: string): ToolDetail | undefined {
  const tool = selectTool(toolbox, name);
  return tool && detailOf(tool);
}

function detailOf({ name, description, parameters }: Tool): ToolDetail {
  return { name, description, parameters };
}

/** Returns the tool as JSON. Throws Fault RESOURCE_NOT_FOUND when this service does not offer it. */
export async function getTool(
  deps: Pick<ToolDeps, "toolbox" | "runServers">,
  run: Pick<CallingRun, "runId" | "grant">,
  { toolName }: GetToolRequest,
): Promise<string> {
  using opened = await openTool(deps, run, toolName);
  return JSON.stringify(detailOf(opened.tool));
}

/** The run whose runner calls. */
type CallingRun = Pick<HostRun, "runId" | "attempt" | "scope" | "grant" | "signal">;

/** Calls a tool and returns its result as JSON: `{"content":"…"}`. Throws Fault HOST_CALL_FAILED when the tool fails. */
export async function callTool(
  deps: ToolDeps,
  run: CallingRun,
  { toolName, parameters, approvalSequence }: CallToolRequest,
): Promise<string> {
  using opened = await openTool(deps, run, toolName);
  const { tool } = opened;
  const args = parameters === "" ? "{}" : readObjectText(parameters, "parameters").text;
  const id = newUuid(deps.clock.nowMs());
  if (tool.needsApproval === true) {
    await useApprovalOfCall(deps, run, { toolName, parameters: args, sequence: approvalSequence, useId: id });
  }
  if (!(await takeToolCall(deps.db, { runId: run.runId, max: deps.toolCallsMax }))) {
    throw new Fault("QUOTA_EXHAUSTED", `the run has reached its maximum of tool calls (${deps.toolCallsMax})`);
  }
  const outcome = await runMeasured(deps, tool, { id, args }, run);
  run.signal.throwIfAborted();
  if ("error" in outcome) {
    throw new Fault(reasons.HOST_CALL_FAILED, `tool ${toolName} failed: ${outcome.error.toWellFormed()}`);
  }
  return printResult(outcome);
}

interface OpenedTool extends Disposable {
  readonly tool: Tool;
}

/** Finds a tool of the run's MCP servers or of the service. Throws Fault RESOURCE_NOT_FOUND. */
async function openTool(
  { toolbox, runServers }: Pick<ToolDeps, "toolbox" | "runServers">,
  { runId, grant }: Pick<CallingRun, "runId" | "grant">,
  name: string,
): Promise<OpenedTool> {
  const lease = grant.hasServers === true ? await runServers.lease(runId) : undefined;
  const tool = lease?.value.tools.find((each) => each.name === name) ?? selectTool(toolbox, name);
  const release = (): void => lease?.release();
  if (tool === undefined) {
    release();
    throw notOffered(name);
  }
  return { tool, [Symbol.dispose]: release };
}

async function runMeasured(
  { db, clock, events, workDirs }: ToolDeps,
  tool: Tool,
  { id, args }: { readonly id: string; readonly args: string },
  run: CallingRun,
): Promise<ToolOutcome> {
  const { runId, signal } = run;
  const session = await findSessionOfRun(db, runId);
  if (session === undefined) {
    throw new Fault(reasons.GRANT_REFUSED, "run is not active");
  }
  const place = await workDirs.open(session, undefined);
  const call = { id, written: args, traceParent: undefined };
  const startMs = clock.monotonicMs();
  const context = { ...place, sessionId: session.name, findMemory: findMemoryOf(run), signal, call };
  const timeoutMs = Math.min(tool.timeoutMs ?? callTimeoutMs, callTimeoutMs);
  const prepared = await prepareCall(tool, args, context, { timeoutMs, clock });
  const outcome =
    "settle" in prepared
      ? await db.transaction().execute(async (trx) => {
          await holdHostRun(trx, run);
          return await prepared.settle(trx);
        })
      : prepared;
  const durationMs = clock.monotonicMs() - startMs;
  events.toolFinished({ tool: tool.name, outcome: "content" in outcome ? "ok" : "error", durationMs });
  return outcome;
}

/** The state of a granted scope is the memory of a runner: that of its conversation, and its own. */
function findMemoryOf({ scope, grant }: CallingRun): FindMemory {
  const ofState = (state: StateScope) => {
    const owner =
      grant.apis.includes("state") && grant.stateScopes.includes(state) ? stateKey(scope, state) : undefined;
    return owner && { owner, client: scope.client, session: undefined };
  };
  const find = {
    session: () => ofState("conversation"),
    agent: () => ofState("runner"),
    client: () => memoryOfClient(scope.client),
  };
  return (asked) => find[asked]();
}

const memoryScopes = [MemoryScope.SESSION, MemoryScope.AGENT, MemoryScope.CLIENT];

/** Returns a tool of the service. Tools that a session brings belong to that session only. */
function selectTool({ select }: Pick<Toolbox, "select">, name: string): Tool | undefined {
  try {
    const tools = create(AgentToolsSchema, { builtin: [name], memoryScopes });
    const [tool] = select(tools, { client: "", name: "", callback: undefined }).tools;
    // Runners change their state by calls of their own, and only the agent loop writes what a tool adds to the log.
    return tool?.changes === undefined ? tool : undefined;
  } catch (error) {
    if (error instanceof Fault && (error.reason === "TOOL_UNKNOWN" || error.reason === "TOOL_UNSUPPORTED")) {
      return undefined;
    }
    throw error;
  }
}

function notOffered(name: string): Fault {
  return new Fault("RESOURCE_NOT_FOUND", `this service does not offer tool ${JSON.stringify(name.slice(0, 64))}`);
}
