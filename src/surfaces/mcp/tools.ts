// Tools: the presets of the service, and the agents that protocols offer to the caller.

import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import type { OfferedAgent, OfferedAgents } from "../../platform/base/offered-agents.ts";
import { answer, cacheable, type McpCall } from "./call.ts";
import { wrongParam } from "./rpc.ts";

/** A tool: one agent. */
export interface Tool {
  readonly name: string;
  /** For people; empty for none. */
  readonly title: string;
  readonly description: string;
  /** The agent's own schema; undefined for an agent that takes a message. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined;
  /** Whether a call is a task: as the call's duration says, never, or always. */
  readonly tasks: "chosen" | "never" | "required";
  /** The agent of a protocol; undefined for a preset. */
  readonly offered: { readonly source: OfferedAgents; readonly agent: OfferedAgent } | undefined;
}

/** `tools/list`. */
export async function listTools(call: McpCall): Promise<void> {
  if (call.params.cursor !== undefined) {
    throw wrongParam("cursor", "the list has one page");
  }
  const tools = await findTools(call);
  answer(call, cacheable(call, { tools: tools.map(describe) }));
}

/** Returns the caller's tools in a stable order. An agent of the caller's own hides a preset of its name. */
export async function findTools({ calls, server }: Pick<McpCall, "calls" | "server">): Promise<readonly Tool[]> {
  const { presets } = await calls.call(SessionService.method.listPresets, {});
  const tools = new Map(presets.map(({ name, model }) => [name, toolOfPreset(name, model)]));
  for (const source of server.agents) {
    for (const agent of await source.list((method, request) => calls.call(method, request))) {
      if (toolNames.test(agent.name)) {
        tools.set(agent.name, toolOfAgent(source, agent));
      }
    }
  }
  return [...tools.values()];
}

/** Returns a tool by its name. Throws RpcError for one that the caller does not have. */
export async function requireTool(call: McpCall, name: string): Promise<Tool> {
  const found = (await findTools(call)).find((tool) => tool.name === name);
  if (found === undefined) {
    throw wrongParam("name", `there is no tool ${JSON.stringify(name)}`);
  }
  return found;
}

/** Returns a tool as clients see it. */
export function describe({ name, title, description, inputSchema = messageSchema }: Tool): object {
  return { name, ...(title !== "" && { title }), description, inputSchema, outputSchema };
}

const toolNames = /^[A-Za-z0-9._-]{1,128}$/;

const sessionSchema = {
  type: "string",
  description: "The session_id of an earlier answer, to continue that conversation. Leave it out to begin a new one.",
};

const messageSchema = {
  type: "object",
  properties: {
    message: { type: "string", description: "The task or question, with everything that the agent has to know." },
    session_id: sessionSchema,
  },
  required: ["message"],
  additionalProperties: false,
};

const outputSchema = {
  type: "object",
  properties: {
    run_id: { type: "string", description: "Id of the run." },
    session_id: { type: "string", description: "Continues the conversation, as an argument of the next call." },
    state: { type: "string", enum: ["completed", "failed", "cancelled"] },
  },
  required: ["run_id", "session_id", "state"],
};

function toolOfPreset(name: string, model: string): Tool {
  const withModel = model === "" ? "" : ` with the model ${model}`;
  const description = `Runs the agent ${name}${withModel}, and returns its answer.`;
  return { name, title: "", description, inputSchema: undefined, tasks: "chosen", offered: undefined };
}

/** The author of an agent may give its tool a schema, and say whether its calls are tasks. */
function toolOfAgent(source: OfferedAgents, agent: OfferedAgent): Tool {
  const { name, title, description } = agent;
  const { input_schema: schema, tasks } = isObject(agent.metadata.mcp) ? agent.metadata.mcp : {};
  return {
    name,
    title,
    description: description || title || `Runs the agent ${name}, and returns its answer.`,
    inputSchema: isObject(schema) && schema.type === "object" ? schema : undefined,
    tasks: tasks === "never" || tasks === "required" ? tasks : "chosen",
    offered: { source, agent },
  };
}
