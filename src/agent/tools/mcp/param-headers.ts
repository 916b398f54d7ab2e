// The arguments that a server wants as headers (`x-mcp-header`, revision 2026-07-28). A client must leave out a tool that declares one
// wrongly. Pure.

import { isObject } from "../../../platform/base/json/parse-object.ts";

const keyword = "x-mcp-header";
const token = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
const types: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);

/** Returns why the declarations of a schema are invalid; undefined when they are valid, or when it has none. */
export function findHeaderProblem(schema: unknown): string | undefined {
  const declared: string[] = [];
  const problem = visitProperties(schema, declared);
  if (problem !== undefined) {
    return problem;
  }
  if (new Set(declared.map((name) => name.toLowerCase())).size < declared.length) {
    return `two arguments have the same ${keyword}`;
  }
  // A declaration at any other place is wrong; a count of all of them finds it.
  return countDeclarations(schema) > declared.length ? `${keyword} is permitted for plain arguments only` : undefined;
}

function visitProperties(schema: unknown, declared: string[]): string | undefined {
  if (!isObject(schema) || !isObject(schema.properties)) {
    return undefined;
  }
  for (const property of Object.values(schema.properties)) {
    const problem = isObject(property)
      ? (visitOne(property, declared) ?? visitProperties(property, declared))
      : undefined;
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}

function visitOne(property: Readonly<Record<string, unknown>>, declared: string[]): string | undefined {
  if (!(keyword in property)) {
    return undefined;
  }
  const name = property[keyword];
  if (typeof name !== "string" || !token.test(name)) {
    return `an ${keyword} is not the name of a header`;
  }
  declared.push(name);
  return types.has(property.type) ? undefined : `${keyword} ${name} is of an argument that has no plain type`;
}

function countDeclarations(value: unknown): number {
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  const own = !Array.isArray(value) && keyword in value ? 1 : 0;
  return Object.values(value).reduce((sum: number, each) => sum + countDeclarations(each), own);
}
