// Agents as tools of other agents. The loop starts a run for each call and does not run the tool: here is what the model sees of it,
// and how its arguments become the message of that run.

import type { Subagent } from "#gen/runnel/v1/session_pb.js";
import { readText, type ToolArguments } from "./arguments.ts";
import type { ArgumentsSchema } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** The tool of an agent. */
export interface SubagentTool extends Tool {
  readonly subagent: Subagent;
  /** Returns what a call asks of the agent, or why it is invalid. */
  readonly read: (args: ToolArguments) => SubagentCall | { readonly error: string };
}

/** What a call asks of an agent. */
export interface SubagentCall {
  readonly message: string;
  /** The id of the run that it continues; undefined for a new one. */
  readonly continues: string | undefined;
}

/** The argument that names the run to continue. */
const runIdName = "run_id";
const runIdSchema = {
  type: "string",
  description: "To continue an earlier run of an agent: the run_id at the end of its result. Unset starts a new one.",
};
const messageSchema = {
  type: "object",
  properties: {
    message: {
      type: "string",
      description: "The task, with everything that the agent has to know: it does not see this conversation.",
    },
  },
  required: ["message"],
};

/** Creates the tool of an agent. `schema` is of its arguments; undefined means one text. */
export function createSubagentTool(subagent: Subagent, schema: ArgumentsSchema | undefined): SubagentTool {
  const { name, description } = subagent;
  const parameters = (schema?.parameters ?? messageSchema) as { readonly properties?: object };
  const read = (args: ToolArguments) => readCall(args, schema);
  return {
    ...{ name, description, subagent, read },
    parameters: { ...parameters, properties: { ...parameters.properties, [runIdName]: runIdSchema } },
    afterCrash: "report",
    run: async (args) => {
      const call = read(args);
      return "error" in call ? call : { error: "not run: a call of an agent starts a run" };
    },
  };
}

/** Returns whether a tool is an agent. */
export function isSubagent(tool: Tool | undefined): tool is SubagentTool {
  return tool !== undefined && "subagent" in tool;
}

function readCall(
  { [runIdName]: runId, ...args }: ToolArguments,
  schema: ArgumentsSchema | undefined,
): SubagentCall | { readonly error: string } {
  if (runId !== undefined && runId !== null && runId !== "" && !isUuid(runId)) {
    return { error: `invalid arguments: ${runIdName} must be the id at the end of an earlier result, or unset` };
  }
  const continues = isUuid(runId) ? runId : undefined;
  if (schema === undefined) {
    const message = readText(args, "message");
    return message === undefined ? { error: "invalid arguments: message must be a text" } : { message, continues };
  }
  const problem = schema.findProblem(args);
  return problem === undefined ? { message: JSON.stringify(args), continues } : { error: problem };
}

function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value);
}
