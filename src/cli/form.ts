// The form of an approval at a terminal: one question for each value.

import { isObject, parseJson, parseObject } from "../platform/base/json/parse-object.ts";
import { askText } from "./ask.ts";

/** Asks for the values. Returns them as JSON; undefined after Ctrl-C. An empty line leaves a value out. */
export async function fillIn(form: string): Promise<string | undefined> {
  const { properties, required } = parseObject(form) ?? {};
  const values: [string, unknown][] = [];
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    const field = isObject(property) ? property : {};
    const isRequired = Array.isArray(required) && required.includes(name);
    const text = await askText(`${name} (${describe(field, isRequired)}):`);
    if (text === undefined) {
      return undefined;
    }
    if (text.trim() !== "") {
      values.push([name, readValue(field, text)]);
    }
  }
  return JSON.stringify(Object.fromEntries(values));
}

/** Describes a value, such as `integer, default 3`. */
function describe({ type, title, description, enum: values, default: initial }: Field, isRequired: boolean): string {
  return [
    title ?? description,
    Array.isArray(values) ? values.map((value) => JSON.stringify(value)).join(" | ") : type,
    isRequired && "required",
    initial !== undefined && `default ${JSON.stringify(initial)}`,
  ]
    .filter((part) => typeof part === "string")
    .join(", ");
}

type Field = Readonly<Record<string, unknown>>;

/** A field of the type `string` takes the text as it is, and every other one takes JSON. The service refuses what does not match the form. */
function readValue({ type }: Field, text: string): unknown {
  return type === "string" ? text : (parseJson(text.trim()) ?? text);
}
