// Reads what the fields of a runner's configuration select. The manifest's schema says which fields select something.

import { memberOf, parseFreeJson, parseFreeObject, textMember } from "../../../platform/base/json/free.ts";
import type { JsonNode } from "../../../platform/base/json/text.ts";

/**
 * Returns the texts in the values of all fields of these types, in the order of the schema. A field that the schema names twice
 * counts once. Defaults of the schema do not count: the runner's author wrote them, and only the configuration says what was
 * chosen.
 */
export function textsOfFields(
  configSchema: string | undefined,
  config: string,
  types: readonly string[],
): readonly string[] {
  // The last of duplicate keys counts.
  const values = new Map(parseFreeObject(config).members.map(({ key, value }) => [key.value, value]));
  const schema = configSchema === undefined ? undefined : parseFreeJson(configSchema);
  const fields = schema?.kind === "array" ? schema.items : [];
  const names = fields
    .filter((field) => types.includes(textMember(field, "type") ?? ""))
    .map((field) => textMember(field, "name") ?? "");
  return [...new Set(names)].flatMap((name) => textsOf(values.get(name))).filter((text) => !nothingSelected.has(text));
}

/** The values that LangBot's forms store when a field selects nothing. */
const nothingSelected: ReadonlySet<string> = new Set(["", "__none__", "__none"]);

/** The keys of ids inside an object of the protocol's forms: a model with its fallbacks, or a file with its media type. */
const idKeys = ["primary", "fallbacks", "file_key"] as const;

/** Returns the ids in a value: one id, a list of ids, or an object of the protocol's forms. */
function textsOf(node: JsonNode | undefined): string[] {
  switch (node?.kind) {
    case "string":
      return [node.value];
    case "array":
      return node.items.flatMap(textsOf);
    case "object":
      return idKeys.flatMap((key) => textsOf(memberOf(node, key)));
    default:
      return [];
  }
}
