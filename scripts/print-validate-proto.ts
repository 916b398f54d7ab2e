// Prints buf/validate/validate.proto, which is in no npm package, from the descriptor that protovalidate ships. The text
// declares every message, enum and option of the original. Options of fields (the predefined rules) are left out: the
// runtime reads them from its own descriptor.

import { isFieldSet } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProtoSchema,
  FieldDescriptorProto_Label as FieldLabel,
  FieldDescriptorProto_Type as FieldType,
} from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** The highest field number is 2^29 - 1. The descriptor gives an open range's exclusive end; the proto text says `max`. */
const fieldNumberEnd = 536_870_912;

/** Returns proto2 text. It is correct but not pretty: format it with `buf format`. */
export function printValidateProto(): string {
  const { proto } = file_buf_validate_validate;
  return [
    'syntax = "proto2";',
    `package ${proto.package};`,
    ...proto.dependency.map((path) => `import "${path}";`),
    ...proto.enumType.flatMap(printEnum),
    ...proto.messageType.flatMap(printMessage),
    ...proto.extension.flatMap(printExtension),
    "",
  ].join("\n");
}

function printMessage(message: DescriptorProto): string[] {
  const plainFields = message.field.filter((field) => !isInOneof(field));
  return [
    `message ${message.name} {`,
    ...printReserved(message.reservedRange, message.reservedName, exclusiveEnd),
    ...message.extensionRange.map((range) => `extensions ${printRange(range, exclusiveEnd)};`),
    ...message.enumType.flatMap(printEnum),
    ...message.nestedType.flatMap(printMessage),
    ...plainFields.map((field) => `${printLabel(field)} ${printField(field)}`),
    ...message.oneofDecl.flatMap((oneof, index) => [
      `oneof ${oneof.name} {`,
      ...message.field.filter((field) => isInOneof(field) && field.oneofIndex === index).map(printField),
      "}",
    ]),
    "}",
  ];
}

function printEnum(enumeration: EnumDescriptorProto): string[] {
  return [
    `enum ${enumeration.name} {`,
    ...printReserved(enumeration.reservedRange, enumeration.reservedName, inclusiveEnd),
    ...enumeration.value.map((value) => `${value.name} = ${value.number};`),
    "}",
  ];
}

function printExtension(extension: FieldDescriptorProto): string[] {
  return [`extend ${extension.extendee} {`, `${printLabel(extension)} ${printField(extension)}`, "}"];
}

function printField(field: FieldDescriptorProto): string {
  const type = field.typeName === "" ? FieldType[field.type].toLowerCase() : field.typeName;
  return `${type} ${field.name} = ${field.number};`;
}

function printLabel(field: FieldDescriptorProto): string {
  return FieldLabel[field.label].toLowerCase();
}

/** Checks for presence, because an unset index reads as 0, which is also the first oneof. */
function isInOneof(field: FieldDescriptorProto): boolean {
  return isFieldSet(field, FieldDescriptorProtoSchema.field.oneofIndex);
}

interface NumberRange {
  readonly start: number;
  readonly end: number;
}

/** The end of a range is exclusive in a message and inclusive in an enum. */
const exclusiveEnd = 1;
const inclusiveEnd = 0;

function printReserved(ranges: readonly NumberRange[], names: readonly string[], endOffset: number): string[] {
  return [
    ...ranges.map((range) => `reserved ${printRange(range, endOffset)};`),
    ...names.map((name) => `reserved "${name}";`),
  ];
}

function printRange(range: NumberRange, endOffset: number): string {
  const last = range.end - endOffset;
  if (last === range.start) {
    return `${range.start}`;
  }
  return `${range.start} to ${range.end === fieldNumberEnd ? "max" : last}`;
}
