// The fields of a form, by the JSON Schema that a server wrote for the arguments of a tool or for its question to a person: nothing about
// the schema is sure. Pure.

import { memberOf, readJson } from "../lib/free-json.ts";

/** A field of the form. */
export interface Field {
  readonly name: string;
  /** What people read as the name. */
  readonly label: string;
  /** `json` is for objects, lists and everything that the form does not know. `choices` is a list of some of the choices. */
  readonly kind: "text" | "number" | "choice" | "choices" | "json";
  /** What the schema calls its type, for people. */
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
  /** The values of a choice, as JSON, by the words that people see. */
  readonly choices: Readonly<Record<string, string>>;
  /** The text of the default value. */
  readonly initial: string;
}

/** The texts of the fields by their names. An empty text leaves an optional value out. */
export type FieldTexts = Readonly<Record<string, string>>;

/** Returns the fields; undefined for a schema that does not list its properties, whose values are written as JSON. */
export function fieldsOf(schemaText: string): readonly Field[] | undefined {
  const schema = readJson(schemaText);
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
export function initialTexts(fields: readonly Field[]): FieldTexts {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
}

/** Returns the values as JSON, and the problems of fields by their names: such a field is left out. */
export function valuesOf(
  fields: readonly Field[],
  texts: FieldTexts,
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

/** Returns the texts of values; undefined when they are no JSON object, or have members without a field. */
export function textsOf(fields: readonly Field[], json: string): FieldTexts | undefined {
  const given = readJson(json);
  const names = new Set(fields.map(({ name }) => name));
  if (!isObject(given) || Object.keys(given).some((name) => !names.has(name))) {
    return undefined;
  }
  const texts = fields.map((field) => [field.name, textOf(field.kind, memberOf(given, field.name))]);
  return Object.fromEntries(texts);
}

function fieldOf(name: string, property: unknown, isRequired: boolean): Field {
  const type = memberOf(property, "type");
  const several = type === "array" ? choicesOf(memberOf(property, "items")) : {};
  const choices =
    type === "boolean" ? { true: "true", false: "false" } : type === "array" ? several : choicesOf(property);
  const some = type === "array" ? "choices" : "choice";
  const kind = Object.keys(choices).length > 0 ? some : kindOf(type);
  const title = memberOf(property, "title");
  const description = memberOf(property, "description");
  return {
    ...{ name, kind, isRequired, choices },
    label: typeof title === "string" && title !== "" ? title : name,
    type: typeof type === "string" ? type : "JSON",
    description: typeof description === "string" ? description : "",
    initial: textOf(kind, memberOf(property, "default")),
  };
}

/** Returns the values that a schema lists, as JSON by their words: its `enum`, with or without `enumNames`, or constants with titles. */
function choicesOf(schema: unknown): Readonly<Record<string, string>> {
  const values = memberOf(schema, "enum");
  const names = memberOf(schema, "enumNames");
  if (Array.isArray(values)) {
    const wordOf = (index: number): unknown => (Array.isArray(names) ? names[index] : undefined);
    return Object.fromEntries(values.map((value, index) => [wordsOf(wordOf(index) ?? value), JSON.stringify(value)]));
  }
  const constants = memberOf(schema, "oneOf") ?? memberOf(schema, "anyOf");
  const isListed = Array.isArray(constants) && constants.every((each) => memberOf(each, "const") !== undefined);
  return Object.fromEntries(
    (isListed ? constants : []).map((each) => {
      const value = memberOf(each, "const");
      return [wordsOf(memberOf(each, "title") ?? value), JSON.stringify(value)];
    }),
  );
}

function kindOf(type: unknown): Field["kind"] {
  return type === "string" ? "text" : type === "number" || type === "integer" ? "number" : "json";
}

/** Returns the text of a field with this value. */
function textOf(kind: Field["kind"], value: unknown): string {
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
