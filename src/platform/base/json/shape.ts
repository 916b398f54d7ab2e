// The JSON form of a message, read once from its descriptor: keys in field-number order, our options, and enum names. Types
// without a form in this JSON (maps, most google.protobuf types) fail when the gateway starts.

import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { HttpBodySchema } from "#gen/google/api/httpbody_pb.js";
import { camel_case, json, json_value } from "#gen/runnel/options/v1/options_pb.js";
import { Fault } from "../fault.ts";
import { findTextForm } from "./text-form.ts";

/** The JSON form of one field. */
export interface JsonFieldShape {
  readonly field: DescField;
  /** The printed key. The other of the field's two names is also accepted. */
  readonly key: string;
  /** The string holds JSON text that is printed as JSON. */
  readonly raw: boolean;
  /** The keys of the raw JSON are printed in sorted order. */
  readonly sortKeys: boolean;
  /** The field is printed even when it is empty. */
  readonly emitEmpty: boolean;
  /** The field is printed as `null` when it is not set. */
  readonly nullWhenUnset: boolean;
  /** The timestamp is printed with exactly three digits of a second. */
  readonly millis: boolean;
}

/** The JSON form of a message. */
export interface JsonShape {
  /** In field-number order, which is the documented order of the keys. */
  readonly fields: readonly JsonFieldShape[];
  /** By proto name and by lowerCamel name. */
  readonly byName: ReadonlyMap<string, JsonFieldShape>;
  /** The same names in lower case, for lenient readers. */
  readonly byFoldedName: ReadonlyMap<string, JsonFieldShape>;
}

/** The JSON names of an enum's values, in both directions. */
export interface EnumShape {
  readonly texts: ReadonlyMap<number, string>;
  readonly numbers: ReadonlyMap<string, number>;
}

/** Returns the JSON form of a message. Throws CONFIG_INVALID when it has none. */
export function jsonShape(desc: DescMessage): JsonShape {
  let shape = jsonShapes.get(desc);
  if (shape === undefined) {
    shape = buildJsonShape(desc);
    jsonShapes.set(desc, shape);
  }
  return shape;
}

/**
 * Builds the shapes of a body and of everything inside it. The body is the whole message, or one field of it.
 * Throws CONFIG_INVALID when a type has no JSON form.
 */
export function compileBodyShapes(desc: DescMessage, field: DescField | undefined): void {
  if (field === undefined) {
    compileShapes(desc, new Set());
    return;
  }
  jsonShape(desc);
  if (field.message !== undefined) {
    compileShapes(field.message, new Set());
  }
}

/** Returns the names of an enum's values. */
export function enumShape(desc: DescEnum): EnumShape {
  let shape = enumShapes.get(desc);
  if (shape === undefined) {
    shape = buildEnumShape(desc);
    enumShapes.set(desc, shape);
  }
  return shape;
}

/** Returns true for google.api.HttpBody. */
export function isHttpBody(desc: DescMessage | undefined): boolean {
  return desc?.typeName === HttpBodySchema.typeName;
}

// Descriptors never change, so the values derived from them are kept as long as they live.
const jsonShapes = new WeakMap<DescMessage, JsonShape>();
const enumShapes = new WeakMap<DescEnum, EnumShape>();

function compileShapes(desc: DescMessage, seen: Set<DescMessage>): void {
  if (seen.has(desc) || findTextForm(desc) !== undefined) {
    return;
  }
  seen.add(desc);
  for (const { field } of jsonShape(desc).fields) {
    if (field.message !== undefined) {
      compileShapes(field.message, seen);
    }
  }
}

function buildJsonShape(desc: DescMessage): JsonShape {
  if (desc.typeName.startsWith("google.protobuf.") && desc.typeName !== "google.protobuf.Empty") {
    throw new Fault("CONFIG_INVALID", `${desc.typeName} has no form in the REST JSON`);
  }
  if (isHttpBody(desc)) {
    throw new Fault("CONFIG_INVALID", "google.api.HttpBody is a whole body and has no form inside JSON");
  }
  const fields = desc.fields.toSorted((a, b) => a.number - b.number).map(buildFieldShape);
  const byName = new Map(
    fields.flatMap((shape) => [[shape.field.jsonName, shape] as const, [shape.field.name, shape] as const]),
  );
  const byFoldedName = new Map([...byName].map(([name, shape]) => [name.toLowerCase(), shape]));
  return { fields, byName, byFoldedName };
}

function buildFieldShape(field: DescField): JsonFieldShape {
  // Few fields have the option, and each read of it parses the descriptor's options: a start would do it for all fields.
  const options = hasOption(field, json) ? getOption(field, json) : none;
  const { raw, sortKeys, emitEmpty, nullWhenUnset, millis } = options;
  const problem = findShapeProblem(field, options);
  if (problem !== undefined) {
    throw new Fault("CONFIG_INVALID", `${field.toString()}: ${problem}`);
  }
  const isCamel = hasOption(field.parent, camel_case) && getOption(field.parent, camel_case);
  const key = isCamel ? field.jsonName : field.name;
  return { field, key, raw, sortKeys, emitEmpty, nullWhenUnset, millis };
}

type JsonOptions = Pick<JsonFieldShape, "raw" | "sortKeys" | "emitEmpty" | "nullWhenUnset" | "millis">;
const none: JsonOptions = { raw: false, sortKeys: false, emitEmpty: false, nullWhenUnset: false, millis: false };

function findShapeProblem(
  field: DescField,
  { raw, sortKeys, emitEmpty, nullWhenUnset, millis }: JsonOptions,
): string | undefined {
  if (field.fieldKind === "map") {
    return "maps have no form in the REST JSON";
  }
  if (raw && field.scalar !== ScalarType.STRING) {
    return "only a string can hold raw JSON";
  }
  if (sortKeys && !raw) {
    return "sort_keys fits raw JSON alone";
  }
  if (emitEmpty && (field.fieldKind === "message" || field.oneof !== undefined)) {
    return "emit_empty fits no message field and no member of a oneof";
  }
  if (nullWhenUnset && (emitEmpty || !canBeNull(field))) {
    return "null_when_unset fits a message, an optional field, a string or an enum, and not together with emit_empty";
  }
  return millis && field.message?.typeName !== TimestampSchema.typeName ? "millis fits a timestamp alone" : undefined;
}

/**
 * A plain number or bool cannot distinguish 0 from unset, a list cannot be unset, and most members of a oneof are always unset.
 */
function canBeNull(field: DescField): boolean {
  if (field.fieldKind === "list" || field.oneof !== undefined) {
    return false;
  }
  const isEmptyWhenUnset = field.scalar === ScalarType.STRING || field.enum !== undefined;
  return isEmptyWhenUnset || field.presence !== FeatureSet_FieldPresence.IMPLICIT;
}

function buildEnumShape(desc: DescEnum): EnumShape {
  const texts = new Map<number, string>();
  const numbers = new Map<string, number>();
  for (const value of desc.values) {
    const text = hasOption(value, json_value) ? getOption(value, json_value) : value.name;
    // When several names share a number, the first one is printed.
    if (!texts.has(value.number)) {
      texts.set(value.number, text);
    }
    numbers.set(value.name, value.number);
    numbers.set(text, value.number);
  }
  return { texts, numbers };
}
