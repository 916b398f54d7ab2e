// Agents to which an agent hands its conversation over. A call changes nothing: the loop continues with the other agent.

import type { Subagent } from "#gen/runnel/v1/session_pb.js";
import type { ArgumentsSchema } from "./schema.ts";
import type { Tool } from "./tool.ts";

/** The tool that hands the conversation over. */
export interface HandoffTool extends Tool {
  readonly handsTo: Subagent;
}

const reasonSchema = {
  type: "object",
  properties: {
    reason: { type: "string", description: "Why you hand over, for the log. The agent sees the whole conversation." },
  },
};

/** Creates the tool. `schema` is of its arguments, which are for the log and the agent that takes over; undefined means a reason. */
export function createHandoffTool(handsTo: Subagent, schema: ArgumentsSchema | undefined): HandoffTool {
  const { name, description } = handsTo;
  return {
    ...{ name, handsTo },
    description: `Hands the conversation over to another agent, which answers from now on. ${description}`.trim(),
    parameters: schema?.parameters ?? reasonSchema,
    // It changes nothing by itself.
    afterCrash: "again",
    run: async (args) => {
      const problem = schema?.findProblem(args);
      return problem === undefined ? { content: `${name} has the conversation now.` } : { error: problem };
    },
  };
}

/** Returns whether a tool hands the conversation over. */
export function isHandoff(tool: Tool | undefined): tool is HandoffTool {
  return tool !== undefined && "handsTo" in tool;
}
