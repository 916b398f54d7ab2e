// Selects the tools of one session: the built-in tools that its agent names, those that its client provides over HTTP, the
// functions that its client runs itself, and the agents that it calls. All errors are found before
// a model sees any tool, in the words of the Agent Runner document.

import type { AgentTools, Callback, FunctionTool, RemoteTool, Subagent } from "#gen/runnel/v1/session_pb.js";
import type { Clock } from "../../platform/base/clock.ts";
import { Fault } from "../../platform/base/fault.ts";
import type { Egress } from "../../platform/egress/post.ts";
import { callTimeoutMs } from "./call.ts";
import { createHandoffTool } from "./handoff.ts";
import type { McpServers } from "./mcp/servers.ts";
import { createRemoteTool, type RemoteHost } from "./remote.ts";
import { readSchema } from "./schema.ts";
import { createSubagentTool } from "./subagent.ts";
import type { Tool } from "./tool.ts";

/** What a session contributes to its tools. */
export interface ToolSession {
  readonly client: string;
  /** The session's public id. */
  readonly name: string;
  readonly callback: Callback | undefined;
}

/** A tool that the caller runs, as the model sees it. */
export type CallerTool = Pick<Tool, "name" | "description" | "parameters">;

/** The tools of a run. */
export interface SelectedTools {
  /** The tools that the service runs. */
  readonly tools: readonly Tool[];
  /** The tools that the caller runs. */
  readonly functions: readonly CallerTool[];
}

/**
 * Returns the tools: built-in tools first, each kind in the given order, by which providers cache. A remote tool whose schema
 * no provider accepts is left out. Calls `tell` for each tool and each part of a schema that is left out.
 * @throws Fault INVALID_ARGUMENT for an invalid tool, and the faults of `SelectBuiltin`.
 */
export type SelectTools = (
  tools: AgentTools | undefined,
  session: ToolSession,
  tell?: (problem: string) => void,
) => SelectedTools;

/** What the selection needs. */
export interface SelectToolsOptions {
  readonly selectBuiltin: (names: readonly string[]) => readonly Tool[];
  readonly egress: Egress;
  readonly clock: Clock;
  readonly random: () => number;
  /** Returns the headers that authenticate a body to a client. */
  readonly sign: (client: string, body: string) => Readonly<Record<string, string>>;
  /** Returns false for a client without a secret: it could not tell our calls from forged ones. */
  readonly canSign: (client: string) => boolean;
  /** The default for sessions without a base URL; empty means no default. */
  readonly callbackBaseUrl: string;
  /** Checks the MCP servers of an agent, whose tools only a run lists. */
  readonly mcp: Pick<McpServers, "check">;
  /** The default for sessions without a timeout; 0 means only the timeout of a call. */
  readonly callbackTimeoutMs: number;
}

/** Creates the selection. */
export function createSelectTools(options: SelectToolsOptions): SelectTools {
  return (tools, session, tell = () => {}) => {
    const builtin = options.selectBuiltin(tools?.builtin ?? []);
    const selected = new Map(builtin.map((tool) => [tool.name, (tools && tool.forAgent?.(tools)) ?? tool]));
    const host = hostOf(session, options);
    const startMs = options.clock.monotonicMs();
    const names = new Set(selected.keys());
    for (const remote of tools?.remote ?? []) {
      const { name } = remote;
      const leftMs = compileTimeMs - (options.clock.monotonicMs() - startMs);
      const tool = openRemoteTool(
        remote,
        session,
        { host, leftMs, tell: (problem) => tell(`${name}: ${problem}`) },
        options,
      );
      claimName(names, name, `register remote ${name}`);
      if (tool !== undefined) {
        selected.set(name, tool);
      }
    }
    const functions = (tools?.functions ?? []).flatMap((each) => {
      claimName(names, each.name, `register function ${each.name}`);
      const leftMs = compileTimeMs - (options.clock.monotonicMs() - startMs);
      return openFunction(each, leftMs, (problem) => tell(`${each.name}: ${problem}`));
    });
    for (const agent of tools?.agents ?? []) {
      claimName(names, agent.name, `register agent ${agent.name}`);
      const leftMs = compileTimeMs - (options.clock.monotonicMs() - startMs);
      selected.set(agent.name, openSubagent(agent, leftMs));
    }
    assertApprovable(tools);
    assertReadable(tools);
    options.mcp.check(tools?.mcp ?? [], session.client);
    return { tools: [...selected.values()], functions };
  };
}

/** The caller runs its functions itself, so it asks for their approval itself. */
function assertApprovable(tools: AgentTools | undefined): void {
  const { builtin = [], remote = [], agents = [] } = tools ?? {};
  const names = new Set([...builtin, ...[...remote, ...agents].map(({ name }) => name)]);
  const unknown = tools?.approve.find((name) => !names.has(name));
  if (unknown !== undefined) {
    throw failed(`approve ${unknown}: name a tool of builtin, remote or agents`, "agent.tools.approve");
  }
}

/** A model reads the files of a skill with a tool. */
function assertReadable(tools: AgentTools | undefined): void {
  const { builtin = [], skills: [skill] = [] } = tools ?? {};
  if (skill !== undefined && !["read_file", "bash"].some((name) => builtin.includes(name))) {
    throw failed(`skill ${skill}: add read_file or bash to builtin, which reads its files`, "agent.tools.skills");
  }
}

function claimName(names: Set<string>, name: string, what: string): void {
  if (names.has(name)) {
    throw failed(`${what}: tool already registered: ${name}`);
  }
  names.add(name);
}

/** Returns the tool of an agent. Providers must accept its schema: a model could not call the agent without it. */
function openSubagent(subagent: Subagent, leftMs: number): Tool {
  const { name, parameters, handoff } = subagent;
  const schema = parameters === "" ? undefined : readSchema(parameters, leftMs);
  if (schema !== undefined && "problem" in schema) {
    throw failed(`create agent ${name}: ${schema.problem}`, "agent.tools.agents");
  }
  return handoff ? createHandoffTool(subagent, schema) : createSubagentTool(subagent, schema);
}

/** Returns the function as the model sees it; nothing when no provider would accept its schema. */
function openFunction(
  { name, description, parameters }: FunctionTool,
  leftMs: number,
  tell: (problem: string) => void,
): CallerTool[] {
  const schema = readSchema(parameters, leftMs);
  if (!("problem" in schema)) {
    return [{ name, description, parameters: schema.parameters }];
  }
  if (schema.isInvalid) {
    throw failed(`create function ${name}: ${schema.problem}`, "agent.tools.functions");
  }
  tell(`the function was left out: ${schema.problem}`);
  return [];
}

/** The time limit for all new schemas of a session. A normal schema takes a few milliseconds. */
const compileTimeMs = 1_000;

function hostOf(session: ToolSession, options: SelectToolsOptions): RemoteHost {
  const { egress, clock, random, sign } = options;
  const { baseUrl = "", timeoutSec = 0 } = session.callback ?? {};
  const timeoutMs = (timeoutSec > 0 ? timeoutSec * 1_000 : options.callbackTimeoutMs) || callTimeoutMs;
  return {
    baseUrl: baseUrl || options.callbackBaseUrl,
    timeoutMs: Math.min(timeoutMs, callTimeoutMs),
    sessionId: session.name,
    sign: (body) => sign(session.client, body),
    egress,
    clock,
    random,
  };
}

interface RemoteOpening {
  readonly host: RemoteHost;
  readonly leftMs: number;
  readonly tell: (problem: string) => void;
}

/** Creates a remote tool. Returns undefined when no provider would accept its schema. */
function openRemoteTool(
  { name, description, parameters }: RemoteTool,
  { client }: ToolSession,
  { host, leftMs, tell }: RemoteOpening,
  { egress, canSign }: SelectToolsOptions,
): Tool | undefined {
  const refuse = (problem: string, field?: string): Fault => failed(`create remote tool ${name}: ${problem}`, field);
  if (!/^[a-zA-Z][a-zA-Z0-9_]*$/.test(name)) {
    throw refuse(`invalid tool name ${JSON.stringify(name)}: must match [a-zA-Z][a-zA-Z0-9_]*`);
  }
  if (host.baseUrl === "") {
    throw refuse("callback.base_url is missing: give one when you create the session", "callback.base_url");
  }
  const problem = egress.findProblem(host.baseUrl);
  if (problem !== undefined) {
    throw refuse(`invalid callback.base_url: ${problem}`, "callback.base_url");
  }
  if (!canSign(client)) {
    throw refuse("its calls cannot be signed: give the client a key in auth.api_keys");
  }
  const schema = readSchema(parameters, leftMs);
  if ("problem" in schema) {
    if (schema.isInvalid) {
      throw refuse(schema.problem);
    }
    tell(`the tool was left out: ${schema.problem}`);
    return undefined;
  }
  schema.problems.forEach(tell);
  return createRemoteTool({ name, description, schema, host });
}

function failed(problem: string, field = "agent.tools.remote"): Fault {
  return new Fault("INVALID_ARGUMENT", `failed to build registry: ${problem}`, {
    violations: [{ field, description: problem }],
  });
}
