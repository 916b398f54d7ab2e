// Tools: the presets of the service, and the agents that protocols offer to the caller.

import { isObject } from "../../platform/base/json/parse-object.ts";
import { findAgents, type NamedAgent } from "../in-process/agents.ts";
import { wrongParam } from "../in-process/json-rpc.ts";
import { answer, cacheable, type McpCall } from "./call.ts";

/** A tool: one agent. */
export interface Tool extends NamedAgent {
  /** The agent's own schema; undefined for an agent that takes a message. */
  readonly inputSchema: Readonly<Record<string, unknown>> | undefined;
  /** Whether a call is a task: as the call's duration says, never, or always. */
  readonly tasks: "chosen" | "never" | "required";
}

/** `tools/list`. */
export async function listTools(call: McpCall): Promise<void> {
  if ((call.params.cursor ?? "") !== "") {
    throw wrongParam("cursor", "the list has one page");
  }
  const tools = await findTools(call);
  answer(call, cacheable(call, { tools: tools.map(describe) }));
}

/** Returns the caller's tools in a stable order. */
export async function findTools({ calls, server }: Pick<McpCall, "calls" | "server">): Promise<readonly Tool[]> {
  return (await findAgents(calls, server.agents)).map(toolOf);
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

/** The author of an agent may give its tool a schema, and say whether its calls are tasks. */
function toolOf(agent: NamedAgent): Tool {
  const ofAuthor = agent.offered?.agent.metadata.mcp;
  const { input_schema: schema, tasks } = isObject(ofAuthor) ? ofAuthor : {};
  return {
    ...agent,
    inputSchema: isObject(schema) && schema.type === "object" ? schema : undefined,
    tasks: tasks === "never" || tasks === "required" ? tasks : "chosen",
  };
}
