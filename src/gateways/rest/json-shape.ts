// What a message looks like as JSON, read from its descriptor once: keys in field-number order, our options, the words
// of its enums. What this JSON cannot say (maps, most google.protobuf types) fails when the gateway starts.

import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { json, json_value } from "#gen/runnel/options/v1/options_pb.js";
import { Fault } from "../../base/fault.ts";

export interface JsonFieldShape {
  readonly field: DescField;
  readonly key: string;
  /** The string holds JSON text that is printed as it is. */
  readonly raw: boolean;
  /** Printed although it is empty. */
  readonly emitEmpty: boolean;
}

export interface JsonShape {
  /** In field-number order: that is the documented order of the keys. */
  readonly fields: readonly JsonFieldShape[];
  /** By proto name and by lowerCamel name. */
  readonly byName: ReadonlyMap<string, JsonFieldShape>;
  /** The same names in lower case, for lenient readers. */
  readonly byFoldedName: ReadonlyMap<string, JsonFieldShape>;
}

export interface EnumShape {
  readonly texts: ReadonlyMap<number, string>;
  readonly numbers: ReadonlyMap<string, number>;
}

/** The shape of one message. */
export function jsonShape(desc: DescMessage): JsonShape {
  let shape = jsonShapes.get(desc);
  if (shape === undefined) {
    shape = buildJsonShape(desc);
    jsonShapes.set(desc, shape);
  }
  return shape;
}

/** Builds the shapes of a message and of all that it holds; throws CONFIG_INVALID where JSON has no way to say it. */
export function compileJsonShapes(desc: DescMessage, seen: Set<DescMessage> = new Set()): void {
  if (seen.has(desc) || isTimestamp(desc)) {
    return;
  }
  seen.add(desc);
  for (const { field } of jsonShape(desc).fields) {
    if (field.message !== undefined) {
      compileJsonShapes(field.message, seen);
    }
  }
}

/** The words of one enum. */
export function enumShape(desc: DescEnum): EnumShape {
  let shape = enumShapes.get(desc);
  if (shape === undefined) {
    shape = buildEnumShape(desc);
    enumShapes.set(desc, shape);
  }
  return shape;
}

export function isTimestamp(desc: DescMessage | undefined): boolean {
  return desc?.typeName === "google.protobuf.Timestamp";
}

// Descriptors never change, so what is derived from them is kept for as long as they live.
const jsonShapes = new WeakMap<DescMessage, JsonShape>();
const enumShapes = new WeakMap<DescEnum, EnumShape>();

function buildJsonShape(desc: DescMessage): JsonShape {
  if (desc.typeName.startsWith("google.protobuf.") && desc.typeName !== "google.protobuf.Empty") {
    throw new Fault("CONFIG_INVALID", `${desc.typeName} has no form in the REST JSON`);
  }
  if (desc.typeName === "google.api.HttpBody") {
    throw new Fault("CONFIG_INVALID", "google.api.HttpBody is not supported by the REST gateway");
  }
  const fields = desc.fields.toSorted((a, b) => a.number - b.number).map(buildFieldShape);
  const byName = new Map(
    fields.flatMap((shape) => [[shape.field.jsonName, shape] as const, [shape.key, shape] as const]),
  );
  const byFoldedName = new Map([...byName].map(([name, shape]) => [name.toLowerCase(), shape]));
  return { fields, byName, byFoldedName };
}

function buildFieldShape(field: DescField): JsonFieldShape {
  const { raw, emitEmpty } = getOption(field, json);
  if (field.fieldKind === "map") {
    throw new Fault("CONFIG_INVALID", `${field.toString()}: maps have no form in the REST JSON`);
  }
  if (raw && field.scalar !== ScalarType.STRING) {
    throw new Fault("CONFIG_INVALID", `${field.toString()}: only a string can hold raw JSON`);
  }
  if (emitEmpty && (field.fieldKind === "message" || field.oneof !== undefined)) {
    throw new Fault("CONFIG_INVALID", `${field.toString()}: emit_empty fits no message field and no member of a oneof`);
  }
  return { field, key: field.name, raw, emitEmpty };
}

function buildEnumShape(desc: DescEnum): EnumShape {
  const texts = new Map<number, string>();
  const numbers = new Map<string, number>();
  for (const value of desc.values) {
    const text = hasOption(value, json_value) ? getOption(value, json_value) : value.name;
    // Of several names of one number the first is the one that is printed.
    if (!texts.has(value.number)) {
      texts.set(value.number, text);
    }
    numbers.set(value.name, value.number);
    numbers.set(text, value.number);
  }
  return { texts, numbers };
}
