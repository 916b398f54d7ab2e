// What the fields of a runner's configuration name. The manifest's schema says which of them select something.

import { memberOf, parseFreeJson, parseFreeObject } from "../../../platform/base/json/free.ts";
import type { JsonNode } from "../../../platform/base/json/text.ts";

/**
 * Returns the texts in the values of all fields of these types, in the order of the schema. A default of the schema does not
 * count: its author is the runner's, and the configuration alone says what was chosen.
 */
export function textsOfFields(
  configSchema: string | undefined,
  config: string,
  types: readonly string[],
): readonly string[] {
  const values = parseFreeObject(config);
  const schema = configSchema === undefined ? undefined : parseFreeJson(configSchema);
  const fields = schema?.kind === "array" ? schema.items : [];
  return fields
    .filter((field) => types.includes(textOf(memberOf(field, "type")) ?? ""))
    .flatMap((field) => textsOf(memberOf(values, textOf(memberOf(field, "name")) ?? "")))
    .filter((text) => !nothingSelected.has(text));
}

/** What LangBot's forms store when a field selects nothing. */
const nothingSelected: ReadonlySet<string> = new Set(["", "__none__", "__none"]);

/** Where the forms of the protocol put ids inside an object: a model with its fallbacks, or a file with its media type. */
const idKeys = ["primary", "fallbacks", "file_key"] as const;

/** A value is one id, a list of them, or an object of the protocol's forms. */
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

function textOf(node: JsonNode | undefined): string | undefined {
  return node?.kind === "string" ? node.value : undefined;
}
