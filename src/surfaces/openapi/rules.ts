// Converts the rules of a field (buf.validate) to JSON Schema. A rule without a keyword becomes a sentence: no rule is silently
// left out.

import {
  create,
  type DescField,
  type DescMessage,
  type DescOneof,
  getExtension,
  getOption,
  isMessage,
  type Message,
} from "@bufbuild/protobuf";
import { type ReflectList, type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import {
  type FieldRules,
  FieldRulesSchema,
  field as fieldRulesOption,
  Ignore,
  message as messageRulesOption,
  type Rule,
  StringRulesSchema,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { no_nul as noNul } from "#gen/runnel/options/v1/rules_pb.js";
import { jsonShape } from "../../platform/base/json/shape.ts";
import { validator } from "../../platform/base/validator.ts";
import type { Schema } from "./json-schema.ts";

/** A rule as JSON Schema keywords and sentences. */
export interface RuleReading {
  readonly keywords: Schema;
  /** Complete sentences. */
  readonly notes: readonly string[];
}

/** Reads the rules of a field; for a list, the rules of the list as a whole. */
export function readFieldRules(field: DescField): RuleReading {
  return readRules(getOption(field, fieldRulesOption));
}

/** Reads the rules of each item of a list. */
export function readItemRules(field: DescField): RuleReading {
  const { type } = getOption(field, fieldRulesOption);
  return type.case === "repeated" && type.value.items !== undefined ? readRules(type.value.items) : nothing;
}

/** Returns the rules of a whole message, as sentences. */
export function readMessageRules(desc: DescMessage): readonly string[] {
  const { cel, celExpression, oneof } = getOption(desc, messageRulesOption);
  const choices = oneof.map(({ fields, required }) => describeChoice(desc, fields, required));
  return [...readExpressions(cel, celExpression), ...choices];
}

/** Describes fields that exclude each other, by their JSON keys: `` At most one of `a`, `b`. `` */
export function describeChoice(desc: DescMessage, names: readonly string[], required: boolean): string {
  const { byName } = jsonShape(desc);
  const keys = names.map((name) => `\`${byName.get(name)?.key ?? name}\``);
  return `${required ? "Exactly" : "At most"} one of ${keys.join(", ")}.`;
}

/** The fields and oneofs that a message must have. */
export interface Requirements {
  readonly fields: ReadonlySet<DescField>;
  readonly oneofs: ReadonlySet<DescOneof>;
}

/**
 * Returns the required fields and oneofs of a message. Validates an empty message to find them, since many rules require a
 * value implicitly.
 */
export function findRequirements(desc: DescMessage): Requirements {
  let requirements = requirementsByMessage.get(desc);
  if (requirements === undefined) {
    requirements = validateEmpty(desc);
    requirementsByMessage.set(desc, requirements);
  }
  return requirements;
}

// Descriptors never change, so derived values are kept as long as the descriptors.
const requirementsByMessage = new WeakMap<DescMessage, Requirements>();

function validateEmpty(desc: DescMessage): Requirements {
  const fields = new Set<DescField>();
  const oneofs = new Set<DescOneof>();
  const result = validator.validate(desc, create(desc));
  if (result.kind === "error") {
    throw result.error;
  }
  for (const { field: path } of result.violations ?? []) {
    const [first, ...deeper] = path;
    if (first?.kind === "field" && deeper.length === 0) {
      fields.add(first);
    } else if (first?.kind === "oneof") {
      oneofs.add(first);
    }
  }
  return { fields, oneofs };
}

const nothing: RuleReading = { keywords: {}, notes: [] };

function readRules(rules: FieldRules): RuleReading {
  if (rules.ignore === Ignore.ALWAYS) {
    return nothing;
  }
  const readings = readTypeRules(reflect(FieldRulesSchema, rules, false));
  return {
    keywords: Object.assign({}, ...readings.map(({ keywords }) => keywords)),
    notes: [...readings.flatMap(({ notes }) => notes), ...readExpressions(rules.cel, rules.celExpression)],
  };
}

function readTypeRules(rules: ReflectMessage): RuleReading[] {
  const kind = rules.oneofs.map((oneof) => rules.oneofCase(oneof)).find((member) => member !== undefined);
  if (kind?.fieldKind !== "message") {
    return [];
  }
  const typed = rules.get(kind);
  const standard = typed.fields
    .filter((rule) => typed.isSet(rule) && rule.name !== "items")
    .map((rule) => readRule(kind.name, rule.name, plainValue(typed.get(rule))));
  return [...standard, ...readOwnRules(typed.message)];
}

/** Reads the rules that Runnel adds to those of buf.validate. */
function readOwnRules(rules: Message): RuleReading[] {
  return isMessage(rules, StringRulesSchema) && getExtension(rules, noNul)
    ? [{ keywords: { pattern: "^[^\\u0000]*$" }, notes: [] }]
    : [];
}

function plainValue(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number(value);
  }
  return typeof value === "object" && value !== null && Symbol.iterator in value
    ? [...(value as ReflectList)].map(plainValue)
    : value;
}

function readRule(kind: string, name: string, value: unknown): RuleReading {
  // A false value switches the check off; only for `const` it is a value.
  if (value === false && name !== "const") {
    return nothing;
  }
  const reader = readers[`${kind}.${name}`] ?? (numberKinds.test(kind) ? numberReaders[name] : undefined);
  return reader?.(value) ?? note(checkedBy(`${kind}.${name}`));
}

type Reader = (value: unknown) => RuleReading | undefined;

const numberKinds = /^(?:s?fixed|[su]?int)(?:32|64)$|^(?:float|double)$/;

const numberReaders: Readonly<Record<string, Reader>> = {
  const: keyword("const"),
  in: keyword("enum"),
  lt: keyword("exclusiveMaximum"),
  lte: keyword("maximum"),
  gt: keyword("exclusiveMinimum"),
  gte: keyword("minimum"),
  example: keyword("examples"),
};

const readers: Readonly<Record<string, Reader>> = {
  "bool.const": keyword("const"),
  "string.const": keyword("const"),
  "string.in": keyword("enum"),
  "string.not_in": (value) => ({ keywords: { not: { enum: value } }, notes: [] }),
  "string.len": (value) => ({ keywords: { minLength: value, maxLength: value }, notes: [] }),
  "string.min_len": keyword("minLength"),
  "string.max_len": keyword("maxLength"),
  "string.len_bytes": (value) => note(`Exactly ${value} bytes of UTF-8.`),
  "string.min_bytes": (value) => note(`At least ${value} bytes of UTF-8.`),
  "string.max_bytes": (value) => note(`At most ${value} bytes of UTF-8.`),
  "string.pattern": (value) => (isSharedPattern(String(value)) ? keyword("pattern")(value) : undefined),
  "string.prefix": (value) => note(`Begins with \`${value}\`.`),
  "string.suffix": (value) => note(`Ends with \`${value}\`.`),
  "string.contains": (value) => note(`Contains \`${value}\`.`),
  "string.email": format("email"),
  "string.hostname": format("hostname"),
  "string.ipv4": format("ipv4"),
  "string.ipv6": format("ipv6"),
  "string.uri": format("uri"),
  "string.uri_ref": format("uri-reference"),
  "string.uuid": format("uuid"),
  "string.example": keyword("examples"),
  "bytes.len": (value) => note(`Exactly ${value} bytes when decoded.`),
  "bytes.min_len": (value) => note(`At least ${value} bytes when decoded.`),
  "bytes.max_len": (value) => note(`At most ${value} bytes when decoded.`),
  "repeated.min_items": keyword("minItems"),
  "repeated.max_items": keyword("maxItems"),
  "repeated.unique": keyword("uniqueItems"),
  "timestamp.gt_now": () => note("Lies in the future."),
  "timestamp.lt_now": () => note("Lies in the past."),
  // The schema of an enum already lists its words.
  "enum.defined_only": () => nothing,
};

function keyword(name: string): (value: unknown) => RuleReading {
  return (value) => ({ keywords: { [name]: value }, notes: [] });
}

function format(name: string): Reader {
  return () => ({ keywords: { format: name }, notes: [] });
}

function note(sentence: string): RuleReading {
  return { keywords: {}, notes: [sentence] };
}

/**
 * Whether ECMAScript can parse a pattern. Rules are RE2 and JSON Schema is ECMAScript; a pattern valid in both means the same.
 */
function isSharedPattern(pattern: string): boolean {
  try {
    void new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

/** Returns custom rules as sentences: by their error message, or by the expression when the message is empty. */
function readExpressions(cel: readonly Rule[], celExpression: readonly string[]): string[] {
  return [
    ...cel.map(({ message, expression }) =>
      message === "" ? checkedBy(expression) : `Refused otherwise: ${message.replace(/\.$/, "")}.`,
    ),
    ...celExpression.map(checkedBy),
  ];
}

function checkedBy(rule: string): string {
  return `Checked by the rule \`${rule}\`.`;
}
