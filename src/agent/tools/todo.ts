// The tool todo: keeps the agent's plan, for people who follow the run. The plan is what the log says: the call stores nothing else.

import { PlanEntry_StatusSchema } from "#gen/runnel/v1/result_pb.js";
import { isObject } from "../../platform/base/json/parse-object.ts";
import { enumShape } from "../../platform/base/json/shape.ts";
import { readText, type ToolArguments } from "./arguments.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

/** People read the plan at a glance, and the model writes all of it each time. */
const itemsMax = 50;
const textCharsMax = 500;

const statusNames = ["pending", "in_progress", "completed"] as const;
const statuses = enumShape(PlanEntry_StatusSchema).numbers;

/** The tool todo. */
export const todo: Tool = {
  name: "todo",
  description:
    "Writes the plan of your work, which people see while you work. Use it for tasks of several steps. Each call has the whole plan " +
    "and replaces the one before: call it again when a step begins, when it is done, and when the plan changes.",
  parameters: {
    type: "object",
    properties: {
      items: {
        type: "array",
        description: `All steps in their order, at most ${itemsMax}; an empty list drops the plan.`,
        items: {
          type: "object",
          properties: {
            text: { type: "string", description: `What to do, in at most ${textCharsMax} characters.` },
            status: { type: "string", enum: statusNames },
          },
          required: ["text", "status"],
        },
      },
    },
    required: ["items"],
  },
  afterCrash: "again",
  run: async ({ items }) => check(items),
  changes: ({ items }) => [{ payload: { case: "planUpdated", value: { entries: itemsOf(items).map(entryOf) } } }],
};

function check(items: unknown): ToolOutcome {
  if (!Array.isArray(items)) {
    return { error: "items is missing: give the list of all steps, or an empty list" };
  }
  if (items.length > itemsMax) {
    return { error: `too many items: ${items.length}, max ${itemsMax}; join steps that belong together` };
  }
  for (const [index, item] of items.entries()) {
    const problem = findProblem(item);
    if (problem !== undefined) {
      return { error: `invalid items[${index}]${problem}` };
    }
  }
  const done = itemsOf(items).filter(({ status }) => status === "completed").length;
  return { content: `The plan has ${items.length} steps, ${done} completed` };
}

function findProblem(item: unknown): string | undefined {
  if (!isObject(item)) {
    return ": give an object with text and status";
  }
  const text = readText(item, "text");
  if (text === undefined || text.length > textCharsMax || !text.isWellFormed() || text.includes("\0")) {
    return `.text: give a text of 1 to ${textCharsMax} characters`;
  }
  return statusNames.some((name) => name === item.status) ? undefined : `.status: give ${statusNames.join(", ")}`;
}

function itemsOf(items: unknown): readonly ToolArguments[] {
  return Array.isArray(items) ? items : [];
}

function entryOf({ text, status }: ToolArguments) {
  return { text: String(text), status: statuses.get(String(status)) ?? 0 };
}
