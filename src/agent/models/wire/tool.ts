// Tools as providers accept them. OpenAI and Anthropic refuse a schema that does not say that it is of an object, and one
// with a choice of schemas at its top; everything else is passed on as it is. Pure.

import type { ModelToolDefinition } from "../model.ts";
import { asRecord } from "./frame.ts";

const refusedAtTop: ReadonlySet<string> = new Set(["oneOf", "anyOf", "allOf", "enum", "not"]);

/** Moves what the schema may not say into the description, where the model reads it just as well. */
export function adaptTool({ name, description, parameters }: ModelToolDefinition): ModelToolDefinition {
  const fields = Object.entries(asRecord(parameters));
  const refused = fields.filter(([keyword]) => refusedAtTop.has(keyword));
  const accepted = Object.fromEntries(fields.filter(([keyword]) => !refusedAtTop.has(keyword)));
  return {
    name,
    description: refused.length === 0 ? description : describe(description, Object.fromEntries(refused)),
    parameters: accepted.type === undefined ? { type: "object", ...accepted } : accepted,
  };
}

function describe(description: string, refused: object): string {
  const rule = `The arguments must also match this JSON Schema: ${JSON.stringify(refused)}`;
  return description === "" ? rule : `${description}\n\n${rule}`;
}
