// Reads REST JSON into a message by descriptor. Strict readers report unknown keys. Lenient readers behave like the service of
// the Agent Runner document. Keys match in any case, unknown keys and trailing bytes are ignored, and `null` counts as absent.

import { type DescField, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { Fault } from "../fault.ts";
import { findOneofConflict, openMessageField } from "./field-path.ts";
import { kindNouns } from "./member-reader.ts";
import { type JsonFieldShape, jsonShape } from "./shape.ts";
import { compactJson, type JsonNode, JsonTextError, parseJsonText } from "./text.ts";
import { findTextForm } from "./text-form.ts";
import { describeExpected, readValueText } from "./value-text.ts";

/** How strictly a body is read. */
export interface JsonReadOptions {
  readonly lenient: boolean;
}

/** Reads a body that is the whole message. Throws INVALID_ARGUMENT `invalid request body: …`. */
export function readMessageJson(message: ReflectMessage, text: string, options: JsonReadOptions): void {
  const source = { text, ...options };
  const node = parseBody(source);
  if (!(options.lenient && node.kind === "null")) {
    readObject(source, message, node, "");
  }
}

/**
 * Reads a body that is one field of the message, and returns the fields present in the body.
 * Throws INVALID_ARGUMENT `invalid request body: …`.
 */
export function readFieldJson(
  message: ReflectMessage,
  field: DescField,
  text: string,
  options: JsonReadOptions,
): readonly DescField[] {
  const source = { text, ...options };
  const node = parseBody(source);
  const shape = jsonShape(message.desc).byName.get(field.name);
  if (shape !== undefined) {
    readField(source, message, shape, node, field.name);
  }
  if (node.kind !== "object" || field.message === undefined) {
    return [];
  }
  const { byName } = jsonShape(field.message);
  return node.members.flatMap(({ key }) => byName.get(key.value)?.field ?? []);
}

interface Source extends JsonReadOptions {
  readonly text: string;
}

function parseBody(source: Source): JsonNode {
  try {
    return parseJsonText(source.text, { ignoreTrailing: source.lenient });
  } catch (error) {
    if (error instanceof JsonTextError) {
      throw new Fault("INVALID_ARGUMENT", `invalid request body: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

function readObject(source: Source, message: ReflectMessage, node: JsonNode, path: string): void {
  if (node.kind !== "object") {
    throw mismatch(source, path, "an object", node);
  }
  const shape = jsonShape(message.desc);
  const seen = new Set<JsonFieldShape>();
  for (const { key, value } of node.members) {
    const name = key.value;
    const child = shape.byName.get(name) ?? (source.lenient ? shape.byFoldedName.get(name.toLowerCase()) : undefined);
    const childPath = path === "" ? name : `${path}.${name}`;
    if (child === undefined) {
      refuseUnlessLenient(source, childPath, "unknown key");
    } else if (seen.has(child)) {
      refuseUnlessLenient(source, childPath, "given twice");
      message.clear(child.field);
      readField(source, message, child, value, childPath);
    } else {
      seen.add(child);
      readField(source, message, child, value, childPath);
    }
  }
}

function readField(source: Source, message: ReflectMessage, shape: JsonFieldShape, node: JsonNode, path: string): void {
  const { field } = shape;
  if (node.kind === "null" && (source.lenient || !shape.raw)) {
    return;
  }
  const conflict = findOneofConflict(message, field);
  if (conflict !== undefined) {
    throw invalidBody(path, `only one of ${conflict.name} and ${field.name} can be given`);
  }
  if (field.fieldKind === "list") {
    readList(source, message, shape, node, path);
  } else if (field.fieldKind === "message" && findTextForm(field.message) === undefined) {
    readObject(source, openMessageField(message, field), node, path);
  } else {
    message.set(field, readValue(source, shape, node, path));
  }
}

function readList(source: Source, message: ReflectMessage, shape: JsonFieldShape, node: JsonNode, path: string): void {
  const { field } = shape;
  if (field.fieldKind !== "list") {
    return;
  }
  if (node.kind !== "array") {
    throw mismatch(source, path, "a list", node);
  }
  const list = message.get(field);
  for (const [index, item] of node.items.entries()) {
    const itemPath = `${path}[${index}]`;
    if (field.message !== undefined && findTextForm(field.message) === undefined) {
      const child = reflect(field.message);
      readObject(source, child, item, itemPath);
      list.add(child);
    } else {
      list.add(readValue(source, shape, item, itemPath));
    }
  }
}

function readValue(source: Source, { field, raw }: JsonFieldShape, node: JsonNode, path: string): unknown {
  if (raw) {
    return compactJson(source.text, node).toWellFormed();
  }
  const text = node.kind === "string" ? node.value : source.text.slice(node.start, node.end);
  const value = acceptedKinds(field).includes(node.kind) ? readValueText(field, text) : undefined;
  if (value === undefined) {
    throw mismatch(source, path, describeExpected(field), node);
  }
  return value;
}

/** Returns the JSON kinds of a single value. Numbers may come as strings, since a double cannot hold all 64-bit integers. */
function acceptedKinds(field: DescField): readonly JsonNode["kind"][] {
  if (field.scalar === ScalarType.BOOL) {
    return ["boolean"];
  }
  const isText = field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES || field.message !== undefined;
  return isText ? ["string"] : ["number", "string"];
}

function refuseUnlessLenient(source: Source, path: string, problem: string): void {
  if (!source.lenient) {
    throw invalidBody(path, problem);
  }
}

function mismatch(source: Source, path: string, expected: string, node: JsonNode): Fault {
  const isShort = node.end - node.start <= shownCharsMax && node.kind !== "object" && node.kind !== "array";
  return invalidBody(
    path,
    `expected ${expected}, got ${isShort ? source.text.slice(node.start, node.end) : kindNouns[node.kind]}`,
  );
}

/** The maximum length of an invalid value in an error message. A long value would copy the body. */
const shownCharsMax = 40;

/** The maximum length of a path in an error message: a path can hold keys that the client chose. */
const pathCharsMax = 200;

function invalidBody(path: string, problem: string): Fault {
  const field = path.slice(0, pathCharsMax).toWellFormed();
  const message = field === "" ? problem : `${field}: ${problem}`;
  const violations = field === "" ? [] : [{ field, description: problem }];
  return new Fault("INVALID_ARGUMENT", `invalid request body: ${message}`, { violations });
}
