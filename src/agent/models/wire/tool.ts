// Adapts tools to the providers. OpenAI and Anthropic refuse a schema without `type: object`, and one with a choice of schemas
// at its top; everything else is sent unchanged. Pure.

import { printJson } from "../../../platform/base/json/exact.ts";
import type { ModelToolDefinition } from "../model.ts";
import { asRecord } from "./frame.ts";

const refusedAtTop: ReadonlySet<string> = new Set(["oneOf", "anyOf", "allOf", "enum", "not"]);

/** Moves refused keywords of the schema into the description, where the model reads them just as well. */
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
  const rule = `The arguments must also match this JSON Schema: ${printJson(refused)}`;
  return description === "" ? rule : `${description}\n\n${rule}`;
}
