// The fields of a form for the arguments of a tool, by the JSON Schema that a server wrote: nothing about its form is sure. Pure.

import { memberOf, readJson } from "../lib/free-json.ts";

/** A field of the form. */
export interface ArgumentField {
  readonly name: string;
  /** `json` is for objects, lists and everything that the form does not know. */
  readonly kind: "text" | "number" | "choice" | "json";
  /** What the schema calls its type, for people. */
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** The values of a choice, as JSON, by the words that people see. */
  readonly choices: Readonly<Record<string, string>>;
  /** The text of the default value. */
  readonly initial: string;
}

/** The texts of the fields by their names. An empty text leaves an optional argument out. */
export type ArgumentTexts = Readonly<Record<string, string>>;

/** Returns the fields; undefined for a schema that does not list its properties, whose arguments are written as JSON. */
export function fieldsOf(inputSchema: string): readonly ArgumentField[] | undefined {
  const schema = readJson(inputSchema);
  const properties = memberOf(schema, "properties") ?? {};
  const isOpen = ["anyOf", "oneOf", "allOf", "$ref"].some((word) => memberOf(schema, word) !== undefined);
  if (isOpen || !isObject(properties)) {
    return undefined;
  }
  const required = memberOf(schema, "required");
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, property, Array.isArray(required) && required.includes(name)),
  );
}

/** Returns the texts with which the form begins. */
export function initialTexts(fields: readonly ArgumentField[]): ArgumentTexts {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
}

/** Returns the arguments as JSON, and the problems of fields by their names: such a field is left out. */
export function argumentsOf(
  fields: readonly ArgumentField[],
  texts: ArgumentTexts,
): { readonly json: string; readonly problems: ReadonlyMap<string, string> } {
  const problems = new Map<string, string>();
  const given = fields.flatMap(({ name, kind, isRequired }): [string, unknown][] => {
    const text = texts[name] ?? "";
    if (text === "" && !(isRequired && kind === "text")) {
      return [];
    }
    const value = kind === "text" ? text : readJson(text);
    if (value === undefined) {
      problems.set(name, kind === "number" ? "This is no number." : "This is no JSON.");
      return [];
    }
    return [[name, value]];
  });
  return { json: JSON.stringify(Object.fromEntries(given), null, 2), problems };
}

/** Returns the texts of arguments; undefined when they are no JSON object, or have members without a field. */
export function textsOf(fields: readonly ArgumentField[], json: string): ArgumentTexts | undefined {
  const given = readJson(json);
  const names = new Set(fields.map(({ name }) => name));
  if (!isObject(given) || Object.keys(given).some((name) => !names.has(name))) {
    return undefined;
  }
  const texts = fields.map((field) => [field.name, textOf(field.kind, memberOf(given, field.name))]);
  return Object.fromEntries(texts);
}

function fieldOf(name: string, property: unknown, isRequired: boolean): ArgumentField {
  const type = memberOf(property, "type");
  const values = type === "boolean" ? [true, false] : memberOf(property, "enum");
  const choices = Array.isArray(values) ? values.map((value) => [wordsOf(value), JSON.stringify(value)]) : [];
  const kind = choices.length > 0 ? "choice" : kindOf(type);
  const description = memberOf(property, "description") ?? memberOf(property, "title");
  return {
    ...{ name, kind, isRequired, choices: Object.fromEntries(choices) },
    type: typeof type === "string" ? type : "JSON",
    description: typeof description === "string" ? description : "",
    initial: textOf(kind, memberOf(property, "default")),
  };
}

function kindOf(type: unknown): ArgumentField["kind"] {
  return type === "string" ? "text" : type === "number" || type === "integer" ? "number" : "json";
}

/** Returns the text of a field with this value. */
function textOf(kind: ArgumentField["kind"], value: unknown): string {
  if (value === undefined) {
    return "";
  }
  return kind === "text" && typeof value === "string" ? value : JSON.stringify(value, null, kind === "json" ? 2 : 0);
}

function wordsOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
