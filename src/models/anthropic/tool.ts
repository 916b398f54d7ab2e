// Tools as the service accepts them. It refuses a schema that does not say that it is of an object, and one with a choice
// of schemas at its top; everything else is passed on as it is. Pure.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { asRecord } from "../wire/frame.ts";

type Tool = NonNullable<LanguageModelV4CallOptions["tools"]>[number];

const refusedAtTop: ReadonlySet<string> = new Set(["oneOf", "anyOf", "allOf"]);

/** What the schema may not say is said in the description, where the model reads it just as well. */
export function adaptTool(tool: Tool): Tool {
  if (tool.type !== "function") {
    return tool;
  }
  const schema = asRecord(tool.inputSchema);
  const fields = Object.entries(schema);
  const refused = fields.filter(([name]) => refusedAtTop.has(name));
  if (refused.length === 0 && schema.type !== undefined) {
    return tool;
  }
  const accepted = fields.filter(([name]) => !refusedAtTop.has(name));
  const inputSchema = { type: "object" as const, ...Object.fromEntries(accepted) };
  return refused.length === 0
    ? { ...tool, inputSchema }
    : { ...tool, inputSchema, description: describe(tool.description, Object.fromEntries(refused)) };
}

function describe(description: string | undefined, refused: object): string {
  const rule = `The arguments must also match this JSON Schema: ${JSON.stringify(refused)}`;
  return description === undefined || description === "" ? rule : `${description}\n\n${rule}`;
}
