// Fills the request message from the URL and headers: query keys, path variables, headers that fill a field, and the cursor of
// a stream. A parameter that fills no field gives an INVALID_ARGUMENT that names it; a lenient service ignores it.

import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import {
  type FieldPath,
  findOneofConflict,
  formatFieldPath,
  openMessageField,
  resolveFieldPath,
} from "../../platform/base/json/field-path.ts";
import { describeExpected, isTextValue, readValueText } from "../../platform/base/json/value-text.ts";
import type { Binding } from "./rule.ts";

/** Options for reading a query. */
export interface QueryOptions {
  /** The `Last-Event-ID` header of an EventSource that reconnects, or empty. Fills the cursor and overrides the query. */
  readonly lastEventId: string;
  /** True ignores a parameter that fills no field. False refuses it. */
  readonly lenient: boolean;
}

/** Fills fields from a raw query. `Last-Event-ID` overrides it, because the URL of an EventSource never changes. */
export function assignQuery(
  message: ReflectMessage,
  binding: Binding,
  query: string,
  { lastEventId, lenient }: QueryOptions,
): void {
  const headerCursor = binding.cursor === undefined || lastEventId === "" ? undefined : lastEventId;
  const given = new Set<string>();
  for (const part of query.split("&").filter((each) => each !== "")) {
    const [rawKey, rawValue] = splitParameter(part);
    const key = decodeQueryText(rawKey);
    const path = key === undefined ? undefined : resolveQueryKey(binding, key);
    if (lenient && !isFieldPath(path)) {
      continue;
    }
    const value = decodeQueryText(rawValue);
    if (key === undefined || path === undefined || value === undefined) {
      throw new Fault("INVALID_ARGUMENT", "invalid query: a percent escape is malformed or is not UTF-8");
    }
    if (!isFieldPath(path)) {
      throw invalidParameter(key, path.problem);
    }
    const name = formatFieldPath(path);
    if (given.has(name) && path.field.fieldKind !== "list") {
      throw invalidParameter(key, "is given twice");
    }
    given.add(name);
    if (headerCursor === undefined || name !== binding.cursor?.field.name) {
      assignText(message, path, value, (problem) => invalidParameter(key, problem));
    }
  }
  if (binding.cursor !== undefined && headerCursor !== undefined) {
    const path = { parents: [], field: binding.cursor.field };
    assignText(message, path, headerCursor, (problem) => invalidField("Last-Event-ID", problem));
  }
}

/** Fills fields from headers. An empty header counts as missing, and the query may override a header. */
export function assignHeaders(
  message: ReflectMessage,
  { headerFields }: Binding,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): void {
  for (const [name, field] of headerFields) {
    const text = headers[name];
    if (typeof text === "string" && text !== "") {
      assignText(message, { parents: [], field }, text, (problem) => invalidField(name, problem));
    }
  }
}

/** Fills fields from decoded path variables. They override the body. */
export function assignPath(message: ReflectMessage, binding: Binding, variables: ReadonlyMap<string, string>): void {
  for (const [name, text] of variables) {
    const path = binding.pathFields.get(name);
    if (path !== undefined) {
      assignText(message, path, text, (problem) => invalidField(name, problem));
    }
  }
}

/** Why a parameter fills no field. */
interface NoField {
  readonly problem: string;
}

function isFieldPath(resolved: FieldPath | NoField | undefined): resolved is FieldPath {
  return resolved !== undefined && "field" in resolved;
}

function resolveQueryKey(binding: Binding, key: string): FieldPath | NoField {
  if (binding.body.kind === "whole") {
    return { problem: "is not allowed in the query: put it into the body" };
  }
  const name = binding.cursor?.aliases.includes(key) === true ? binding.cursor.field.name : key;
  const path = resolveFieldPath(binding.method.input, name);
  if (path === undefined) {
    return { problem: "is unknown" };
  }
  const fieldName = formatFieldPath(path);
  if ([...binding.pathFields.values()].some((filled) => formatFieldPath(filled) === fieldName)) {
    return { problem: "is already part of the path" };
  }
  if (binding.body.kind === "field" && (path.parents[0] ?? path.field) === binding.body.field) {
    return { problem: "is part of the body" };
  }
  return isTextValue(path.field) ? path : { problem: "is not a field with a single value" };
}

function assignText(message: ReflectMessage, path: FieldPath, text: string, fail: (problem: string) => Fault): void {
  const { parents, field } = path;
  let parent = message;
  for (const step of [...parents, field]) {
    const conflict = findOneofConflict(parent, step);
    if (conflict !== undefined) {
      throw fail(`cannot be given together with ${conflict.name}`);
    }
    if (step !== field && step.fieldKind === "message") {
      parent = openMessageField(parent, step);
    }
  }
  const value = readValueText(field, text);
  if (value === undefined) {
    throw fail(`must be ${describeExpected(field)}`);
  }
  if (field.fieldKind === "list") {
    parent.get(field).add(value);
  } else {
    parent.set(field, value);
  }
}

function splitParameter(part: string): readonly [key: string, value: string] {
  const equalsAt = part.indexOf("=");
  return equalsAt === -1 ? [part, ""] : [part.slice(0, equalsAt), part.slice(equalsAt + 1)];
}

/** Decodes a query text: `a+b%21` gives `a b!`. Returns undefined when an escape is malformed or is not UTF-8. */
function decodeQueryText(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}

/** The maximum characters of a key in an error message: the key comes from the caller and has no limit. */
const keyCharsMax = 100;

function invalidParameter(key: string, problem: string): Fault {
  const field = key.slice(0, keyCharsMax).toWellFormed();
  return new Fault("INVALID_ARGUMENT", `query parameter ${JSON.stringify(field)} ${problem}`, {
    violations: [{ field, description: problem }],
  });
}
