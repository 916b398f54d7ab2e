// Messages and enums as JSON Schema, in their REST form. Each becomes a component when it is first referred to.

import { type DescEnum, type DescField, type DescMessage, getOption, hasOption, ScalarType } from "@bufbuild/protobuf";
import { FieldBehavior, field_behavior } from "#gen/google/api/field_behavior_pb.js";
import { json, json_value } from "#gen/runnel/options/v1/options_pb.js";
import { enumShape, type JsonFieldShape, jsonShape } from "../../platform/base/json/shape.ts";
import { findTextForm } from "../../platform/base/json/text-form.ts";
import { commentOf, describe } from "./comments.ts";
import { describeExamples, type Examples } from "./examples.ts";
import { reference, type Schema } from "./json-schema.ts";
import { describeChoice, findRequirements, readFieldRules, readItemRules, readMessageRules } from "./rules.ts";

/** Collects the schemas of messages and enums as components. */
export class Schemas {
  readonly #examples: Examples;
  readonly #components = new Map<string, Schema>();
  readonly #names = new Map<DescMessage | DescEnum, string>();
  readonly #sent: ReadonlySet<DescMessage>;

  /**
   * `inputs` are the messages that callers send: callers must send their required fields. In other messages a required field is
   * always printed.
   */
  constructor(inputs: readonly DescMessage[], examples: Examples) {
    this.#examples = examples;
    this.#sent = collectMessages(inputs);
  }

  /** Adds a component without a descriptor. Must be called before components with descriptors get their names. */
  define(name: string, schema: Schema): void {
    this.#components.set(name, schema);
  }

  /** Returns every component, sorted by name. */
  list(): Record<string, Schema> {
    return Object.fromEntries([...this.#components].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns a reference to a message, or its own schema when its JSON form is a text. */
  refer(desc: DescMessage): Schema {
    return findTextForm(desc)?.schema ?? reference(this.nameOf(desc));
  }

  /** Returns the name of the component, and creates the component on first use. */
  nameOf(desc: DescMessage | DescEnum): string {
    const known = this.#names.get(desc);
    if (known !== undefined) {
      return known;
    }
    const shortName = desc.typeName.slice(desc.file.proto.package.length + 1);
    const name = this.#components.has(shortName) ? desc.typeName : shortName;
    this.#names.set(desc, name);
    // The name is taken before the component exists: a message may contain itself.
    this.#components.set(name, {});
    this.#components.set(name, desc.kind === "enum" ? describeEnum(desc) : this.describeMessage(desc));
    return name;
  }

  /** Describes a message without the omitted fields. */
  describeMessage(desc: DescMessage, omitted: ReadonlySet<DescField> = new Set()): Schema {
    const shapes = jsonShape(desc).fields.filter(({ field }) => !omitted.has(field));
    const required = shapes.filter(this.#sent.has(desc) ? isAsked(desc) : isAlwaysPrinted).map(({ key }) => key);
    return {
      type: "object",
      ...describe(desc, [...readMessageRules(desc), ...describeOneofs(desc)]),
      ...(desc.deprecated ? { deprecated: true } : {}),
      properties: Object.fromEntries(shapes.map((shape) => [shape.key, this.describeField(shape)])),
      ...(required.length > 0 ? { required } : {}),
    };
  }

  /** Describes a field with its rules. */
  describeField({ field, raw }: JsonFieldShape): Schema {
    const { keywords, notes } = readFieldRules(field);
    const schema = raw ? describeRaw(field) : this.#describeTyped(field, keywords);
    const isNullable = getOption(field, json).nullWhenUnset && Object.keys(schema).length > 0;
    return {
      ...(isNullable ? { anyOf: [schema, { type: "null" }] } : schema),
      ...describe(field, raw ? ["Any JSON value.", ...describeText(keywords), ...notes] : notes),
      ...(field.deprecated ? { deprecated: true } : {}),
      // In messages that callers send: fields that only the service sets.
      ...(this.#sent.has(field.parent) && isOutputOnly(field) ? { readOnly: true } : {}),
    };
  }

  #describeTyped(field: DescField, keywords: Schema): Schema {
    const value = this.#describeValue(field);
    if (field.fieldKind !== "list") {
      return { ...value, ...describeExamples(field, this.#examples), ...keywords };
    }
    const item = readItemRules(field);
    return { type: "array", items: { ...value, ...item.keywords, ...describe(undefined, item.notes) }, ...keywords };
  }

  #describeValue(field: DescField): Schema {
    if (field.message !== undefined) {
      return this.refer(field.message);
    }
    if (field.enum !== undefined) {
      return reference(this.nameOf(field.enum));
    }
    return field.scalar === undefined ? {} : scalarSchemas[field.scalar];
  }
}

function isOutputOnly(field: DescField): boolean {
  return getOption(field, field_behavior).includes(FieldBehavior.OUTPUT_ONLY);
}

function describeRaw(field: DescField): Schema {
  return field.fieldKind === "list" ? { type: "array", items: {} } : {};
}

/** Describes the rules of a raw JSON field. They are about its text, which no keyword can describe. */
function describeText(keywords: Schema): string[] {
  return Object.entries(keywords).map(([name, value]) => `As text: ${name} ${JSON.stringify(value)}.`);
}

const scalarSchemas: Readonly<Record<ScalarType, Schema>> = {
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
  [ScalarType.FLOAT]: { type: "number", format: "float" },
  [ScalarType.INT32]: { type: "integer", format: "int32" },
  [ScalarType.SINT32]: { type: "integer", format: "int32" },
  [ScalarType.SFIXED32]: { type: "integer", format: "int32" },
  [ScalarType.UINT32]: { type: "integer", format: "uint32", minimum: 0 },
  [ScalarType.FIXED32]: { type: "integer", format: "uint32", minimum: 0 },
  [ScalarType.INT64]: { type: "integer", format: "int64" },
  [ScalarType.SINT64]: { type: "integer", format: "int64" },
  [ScalarType.SFIXED64]: { type: "integer", format: "int64" },
  [ScalarType.UINT64]: { type: "integer", format: "uint64", minimum: 0 },
  [ScalarType.FIXED64]: { type: "integer", format: "uint64", minimum: 0 },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
};

/** Describes an enum by its JSON values. A zero value without a JSON name means "not set" and is left out. */
function describeEnum(desc: DescEnum): Schema {
  const { texts } = enumShape(desc);
  const values = desc.values.filter((value) => value.number !== 0 || hasOption(value, json_value));
  const words = values.map(({ number }) => texts.get(number));
  const lines = values.map((value) => `- \`${texts.get(value.number)}\`: ${commentOf(value)}`);
  return { type: "string", description: [commentOf(desc), ...lines].join("\n"), enum: words };
}

function describeOneofs(desc: DescMessage): string[] {
  const required = findRequirements(desc).oneofs;
  return desc.oneofs.map((oneof) =>
    describeChoice(
      desc,
      oneof.fields.map(({ name }) => name),
      required.has(oneof),
    ),
  );
}

function isAsked(desc: DescMessage): (shape: JsonFieldShape) => boolean {
  const { fields } = findRequirements(desc);
  return ({ field }) => fields.has(field);
}

function isAlwaysPrinted({ field, emitEmpty }: JsonFieldShape): boolean {
  return emitEmpty || getOption(field, json).nullWhenUnset;
}

/** Returns the messages and all messages nested in them. */
function collectMessages(roots: readonly DescMessage[]): ReadonlySet<DescMessage> {
  const messages = new Set(roots);
  // A Set iterates in insertion order and also visits elements added during the iteration.
  for (const { fields } of messages) {
    for (const { message } of fields) {
      if (message !== undefined) {
        messages.add(message);
      }
    }
  }
  return messages;
}
