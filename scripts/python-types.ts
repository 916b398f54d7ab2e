// Prints the modules of clients/python for the packages of the contract, and their types: stubs (.pyi) with the comments of the
// contract as docstrings.

import {
  type AnyDesc,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescOneof,
  type DescService,
  ScalarType,
} from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

const notice = "# Generated from the contract by `npm run generate`: do not edit.";

/** Returns the name of a package's module: `runner_v1` for `runnel.runner.v1`. */
export function moduleOf(packageName: string): string {
  return packageName.replace(/^runnel\./, "").replaceAll(".", "_");
}

/** Prints the module, which makes everything from the descriptors. */
export function printModule(packageName: string): string {
  return `${notice}
"""The messages, enums and services of ${packageName}."""

from .contract import export

export("${packageName}", globals())
`;
}

/** Prints the types of the module. */
export function printTypes(packageName: string, files: readonly DescFile[]): string {
  const body = files.flatMap((file) => [
    ...file.enums.flatMap((each) => printEnum(each)),
    ...file.messages.flatMap((each) => printMessage(each)),
    ...file.services.flatMap((each) => [...printService(each, false), ...printService(each, true)]),
  ]);
  const self = `_m_${moduleOf(packageName)}.`;
  const text = body.map((line) => line.replaceAll(self, "")).join("\n");
  const modules = [...new Set([...text.matchAll(/\b_m_(\w+)\./g)].map(([, name = ""]) => name))].toSorted();
  return [
    notice,
    `"""The messages, enums and services of ${packageName}."""`,
    "",
    "from builtins import bool as _bool, bytes as _bytes, float as _float, int as _int, str as _str",
    "from collections.abc import AsyncIterator as _AsyncIterator, Iterable as _Iterable, Iterator as _Iterator",
    "from collections.abc import Mapping as _Mapping",
    "from datetime import datetime as _datetime, timedelta as _timedelta",
    "from typing import Any as _Any, ClassVar as _ClassVar, Literal as _Literal, overload as _overload",
    "",
    "from google.protobuf.any_pb2 import Any as _AnyMessage",
    "from google.protobuf.duration_pb2 import Duration as _Duration",
    "from google.protobuf.field_mask_pb2 import FieldMask as _FieldMask",
    "from google.protobuf.message import Message as _Message",
    "from google.protobuf.timestamp_pb2 import Timestamp as _Timestamp",
    "",
    ...modules.map((name) => `from . import ${name} as _m_${name}`),
    "from .repeated import Messages as _Messages, Scalars as _Scalars",
    "from .service import AsyncService as _AsyncService, Service as _Service",
    "",
    text,
    "",
  ].join("\n");
}

function printEnum(desc: DescEnum): string[] {
  const name = desc.name;
  const type = typeOf(desc);
  const values = desc.values.flatMap((value) => [`${value.name}: _ClassVar[${type}]`, ...docOf(value)]);
  return [
    `class ${name}(_int):`,
    ...indent([
      ...docOf(desc),
      ...values,
      "@classmethod",
      "def Name(cls, number: _int) -> _str: ...",
      "@classmethod",
      `def Value(cls, name: _str) -> ${type}: ...`,
      "@classmethod",
      "def keys(cls) -> list[_str]: ...",
      "@classmethod",
      `def values(cls) -> list[${type}]: ...`,
      "@classmethod",
      `def items(cls) -> list[tuple[_str, ${type}]]: ...`,
    ]),
    ...desc.values.map((value) => `${value.name}: ${desc.parent === undefined ? type : `_ClassVar[${type}]`}`),
    "",
  ];
}

function printMessage(desc: DescMessage): string[] {
  const fields = desc.fields.flatMap((field) => [`${field.name}: ${readType(field)}`, ...docOf(field)]);
  const parameters = desc.fields.map((field) => `${field.name}: ${writeType(field)} | None = ...`);
  return [
    `class ${desc.name}(_Message):`,
    ...indent([
      ...docOf(desc),
      ...desc.nestedEnums.flatMap((each) => printEnum(each)),
      ...desc.nestedMessages.flatMap((each) => printMessage(each)),
      ...fields,
      `def __init__(${["self", ...(parameters.length > 0 ? ["*", ...parameters] : [])].join(", ")}) -> None: ...`,
      ...printPresence(desc),
    ]),
    "",
  ];
}

/** Type checkers then know which names `HasField` and `WhichOneof` take. */
function printPresence(desc: DescMessage): string[] {
  const oneofs = desc.oneofs;
  const names = [...desc.fields.filter(hasPresence), ...oneofs].map(({ name }) => `"${name}"`);
  return [
    ...(names.length > 0 ? [`def HasField(self, field_name: _Literal[${names.join(", ")}]) -> _bool: ...`] : []),
    ...oneofs.flatMap((oneof) => [
      ...(oneofs.length > 1 ? ["@_overload"] : []),
      `def WhichOneof(self, oneof_group: _Literal["${oneof.name}"]) -> ${membersOf(oneof)} | None: ...`,
    ]),
  ];
}

function membersOf(oneof: DescOneof): string {
  return `_Literal[${oneof.fields.map(({ name }) => `"${name}"`).join(", ")}]`;
}

function hasPresence(field: DescField): boolean {
  return field.fieldKind === "message" || field.oneof !== undefined || field.proto.proto3Optional;
}

/** The base classes take the transport. */
function printService(desc: DescService, isAsync: boolean): string[] {
  const prefix = isAsync ? "Async" : "";
  return [
    `class ${prefix}${desc.name}(_${prefix}Service):`,
    ...indent([...docOf(desc), ...desc.methods.flatMap((method) => printMethod(method, isAsync))]),
    "",
  ];
}

function printMethod(method: DescMethod, isAsync: boolean): string[] {
  const input = typeOf(method.input);
  const output = typeOf(method.output);
  const isStream = method.methodKind === "server_streaming";
  const streamed = `${isAsync ? "_AsyncIterator" : "_Iterator"}[${output}]`;
  const start = isAsync && !isStream ? "async def" : "def";
  const parameters = `self, request: ${input}, *, timeout: _float | None = ...`;
  return [
    `${start} ${snakeCase(method.name)}(${parameters}) -> ${isStream ? streamed : output}:`,
    ...indent([...docOf(method), "..."]),
  ];
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase();
}

function readType(field: DescField): string {
  switch (field.fieldKind) {
    case "scalar":
      return scalarType(field.scalar);
    case "enum":
      return typeOf(field.enum);
    case "message":
      return typeOf(field.message);
    case "list":
      return field.listKind === "message"
        ? `_Messages[${typeOf(field.message)}]`
        : `_Scalars[${field.listKind === "enum" ? typeOf(field.enum) : scalarType(field.scalar)}]`;
    case "map":
      return mapType(field);
  }
}

function mapType(field: DescField & { fieldKind: "map" }): string {
  if (field.mapKind !== "scalar") {
    throw new Error(`${field.parent.typeName}.${field.name}: maps of messages and enums have no types yet`);
  }
  return `dict[${scalarType(field.mapKey)}, ${scalarType(field.scalar)}]`;
}

/** A keyword argument also takes what protobuf makes a message from. */
function writeType(field: DescField): string {
  switch (field.fieldKind) {
    case "enum":
      return `${typeOf(field.enum)} | _str`;
    case "message":
      return writtenMessage(field.message);
    case "list":
      if (field.listKind === "message") {
        return `_Iterable[${writtenMessage(field.message)}]`;
      }
      return `_Iterable[${field.listKind === "enum" ? `${typeOf(field.enum)} | _str` : scalarType(field.scalar)}]`;
    case "map":
      return mapType(field).replace(/^dict/, "_Mapping");
    default:
      return readType(field);
  }
}

/** A message of google.protobuf has a class of its own here, so a program hands over what it is made from. */
function writtenMessage(desc: DescMessage): string {
  const fields = "_Mapping[_str, _Any]";
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return `_datetime | ${fields}`;
    case "google.protobuf.Duration":
      return `_timedelta | ${fields}`;
    default:
      return desc.file.proto.package === "google.protobuf" ? fields : `${typeOf(desc)} | ${fields}`;
  }
}

function scalarType(type: ScalarType): string {
  switch (type) {
    case ScalarType.STRING:
      return "_str";
    case ScalarType.BYTES:
      return "_bytes";
    case ScalarType.BOOL:
      return "_bool";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "_float";
    default:
      return "_int";
  }
}

function typeOf(desc: DescMessage | DescEnum): string {
  const wellKnown: Readonly<Record<string, string>> = {
    "google.protobuf.Timestamp": "_Timestamp",
    "google.protobuf.Duration": "_Duration",
    "google.protobuf.FieldMask": "_FieldMask",
    "google.protobuf.Any": "_AnyMessage",
  };
  const { package: name } = desc.file.proto;
  return wellKnown[desc.typeName] ?? `_m_${moduleOf(name)}.${pathOf(desc)}`;
}

function pathOf(desc: DescMessage | DescEnum): string {
  return desc.parent === undefined ? desc.name : `${pathOf(desc.parent)}.${desc.name}`;
}

function docOf(desc: Exclude<AnyDesc, DescFile>): string[] {
  const text = (getComments(desc).leading ?? "").replaceAll(/^ /gm, "").trim();
  if (text === "") {
    return [];
  }
  const lines = text.replaceAll("\\", "\\\\").split("\n");
  // A quote at the end would end the docstring one character early.
  return lines.length === 1 && !text.endsWith('"') ? [`"""${text}"""`] : ['"""', ...lines, '"""'];
}

function indent(lines: readonly string[]): string[] {
  return (lines.length === 0 ? ["..."] : lines).map((line) => (line === "" ? "" : `    ${line}`));
}
