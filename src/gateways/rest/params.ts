// What URL and headers say, put into the request message: query keys, path variables, headers that stand for a field, and the
// cursor of a stream. Nothing is
// ignored: a key that is unknown, given twice or not meant for the query is an INVALID_ARGUMENT that names it.

import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { Fault, invalidField } from "../../base/fault.ts";
import {
  type FieldPath,
  findOneofConflict,
  formatFieldPath,
  openMessageField,
  resolveFieldPath,
} from "../../base/json/field-path.ts";
import { describeExpected, isTextValue, readValueText } from "../../base/json/value-text.ts";
import type { Binding } from "./rule.ts";

export interface QueryParameter {
  readonly key: string;
  readonly value: string;
}

/** Splits and decodes a raw query (`+` is a space). */
export function parseQuery(query: string): QueryParameter[] {
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equalsAt = part.indexOf("=");
      const key = decodeQueryText(equalsAt === -1 ? part : part.slice(0, equalsAt));
      return { key, value: equalsAt === -1 ? "" : decodeQueryText(part.slice(equalsAt + 1)) };
    });
}

/**
 * Fills fields from the query. `lastEventId` is the header that an EventSource sends when it reconnects, or empty; it
 * fills the cursor and beats the query, since the URL of an EventSource stays the one it began with.
 */
export function assignQuery(
  message: ReflectMessage,
  binding: Binding,
  parameters: readonly QueryParameter[],
  lastEventId: string,
): void {
  const headerCursor = binding.cursor === undefined || lastEventId === "" ? undefined : lastEventId;
  const given = new Set<string>();
  for (const { key, value } of parameters) {
    const path = resolveQueryKey(binding, key);
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

/** Fills fields from the headers that stand for them. An empty one counts as none, and the query may say something else. */
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

/** Fills fields from decoded path variables, over anything that a body said of them. */
export function assignPath(message: ReflectMessage, binding: Binding, variables: ReadonlyMap<string, string>): void {
  for (const [name, text] of variables) {
    const path = binding.pathFields.get(name);
    if (path !== undefined) {
      assignText(message, path, text, (problem) => invalidField(name, problem));
    }
  }
}

function resolveQueryKey(binding: Binding, key: string): FieldPath {
  if (binding.body.kind === "whole") {
    throw invalidParameter(key, "is not read here: put it into the body");
  }
  const name = binding.cursor?.aliases.includes(key) === true ? binding.cursor.field.name : key;
  const path = resolveFieldPath(binding.method.input, name);
  if (path === undefined) {
    throw invalidParameter(key, "is unknown");
  }
  const fieldName = formatFieldPath(path);
  if ([...binding.pathFields.values()].some((filled) => formatFieldPath(filled) === fieldName)) {
    throw invalidParameter(key, "is already part of the path");
  }
  if (binding.body.kind === "field" && (path.parents[0] ?? path.field) === binding.body.field) {
    throw invalidParameter(key, "is part of the body");
  }
  if (!isTextValue(path.field)) {
    throw invalidParameter(key, "names no single value");
  }
  return path;
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

function decodeQueryText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new Fault("INVALID_ARGUMENT", "invalid query: a percent escape is malformed or is not UTF-8");
  }
}

/** A key comes from the caller: enough of it is shown to be found again. */
const keyCharsMax = 100;

function invalidParameter(key: string, problem: string): Fault {
  const field = key.slice(0, keyCharsMax).toWellFormed();
  return new Fault("INVALID_ARGUMENT", `query parameter ${JSON.stringify(field)} ${problem}`, {
    violations: [{ field, description: problem }],
  });
}
