// Builds descriptors for tests that need messages and rules which the real contract does not have, good and bad ones.

import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_timestamp,
  MethodOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { http } from "#gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "#gen/google/api/http_pb.js";
import { JsonFieldSchema, json, StreamCursorSchema, stream_cursor } from "#gen/runnel/options/v1/options_pb.js";

export interface FieldSpec {
  readonly name: string;
  readonly number: number;
  readonly type?: FieldDescriptorProto_Type;
  /** Name of a message or enum, with a leading dot. */
  readonly typeName?: string;
  readonly repeated?: boolean;
  readonly optional?: boolean;
  /** Member of the oneof `choice`. */
  readonly oneof?: boolean;
  readonly json?: MessageInitShape<typeof JsonFieldSchema>;
  readonly cursor?: MessageInitShape<typeof StreamCursorSchema>;
}

/** A message `test.Request` that can hold itself; fields that say no type are strings. */
export function buildMessage(fields: readonly FieldSpec[]): DescMessage {
  return buildMethod(fields, undefined).input;
}

/** A method `test.TestService.Call` from `test.Request` to `test.Request`. */
export function buildMethod(
  fields: readonly FieldSpec[],
  rule: MessageInitShape<typeof HttpRuleSchema> | undefined,
  streaming: { readonly client?: boolean; readonly server?: boolean } = {},
): DescMethod {
  const options = create(MethodOptionsSchema);
  if (rule !== undefined) {
    setExtension(options, http, create(HttpRuleSchema, rule));
  }
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    dependency: ["google/protobuf/timestamp.proto"],
    messageType: [
      { name: "Request", field: fields.map((spec) => buildField(spec, fields)), oneofDecl: buildOneofs(fields) },
    ],
    enumType: [
      {
        name: "Color",
        value: [
          { name: "COLOR_UNSPECIFIED", number: 0 },
          { name: "COLOR_RED", number: 1 },
        ],
      },
    ],
    service: [
      {
        name: "TestService",
        method: [
          {
            name: "Call",
            inputType: ".test.Request",
            outputType: ".test.Request",
            clientStreaming: streaming.client ?? false,
            serverStreaming: streaming.server ?? false,
            options,
          },
        ],
      },
    ],
  });
  const set = create(FileDescriptorSetSchema, { file: [file_google_protobuf_timestamp.proto, file] });
  const method = createFileRegistry(set).getService("test.TestService")?.methods[0];
  if (method === undefined) {
    throw new Error("the test service was not built");
  }
  return method;
}

function buildOneofs(fields: readonly FieldSpec[]): { name: string }[] {
  const real = fields.some((field) => field.oneof === true) ? [{ name: "choice" }] : [];
  return [...real, ...fields.filter((field) => field.optional === true).map((field) => ({ name: `_${field.name}` }))];
}

function buildField(spec: FieldSpec, fields: readonly FieldSpec[]): FieldDescriptorProto {
  const options = create(FieldOptionsSchema);
  if (spec.json !== undefined) {
    setExtension(options, json, create(JsonFieldSchema, spec.json));
  }
  if (spec.cursor !== undefined) {
    setExtension(options, stream_cursor, create(StreamCursorSchema, spec.cursor));
  }
  const realOneofs = fields.some((field) => field.oneof === true) ? 1 : 0;
  const optionals = fields.filter((field) => field.optional === true);
  return create(FieldDescriptorProtoSchema, {
    name: spec.name,
    jsonName: spec.name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    number: spec.number,
    type: spec.type ?? FieldDescriptorProto_Type.STRING,
    label: spec.repeated === true ? FieldDescriptorProto_Label.REPEATED : FieldDescriptorProto_Label.OPTIONAL,
    options,
    ...(spec.typeName === undefined ? {} : { typeName: spec.typeName }),
    ...(spec.oneof === true ? { oneofIndex: 0 } : {}),
    ...(spec.optional === true ? { oneofIndex: realOneofs + optionals.indexOf(spec), proto3Optional: true } : {}),
  });
}
