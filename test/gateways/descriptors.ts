// Builds descriptors for tests that need messages and rules which the real contract does not have, valid and invalid ones.

import {
  create,
  createFileRegistry,
  type DescMessage,
  type DescMethod,
  type DescService,
  type MessageInitShape,
  setExtension,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  file_google_protobuf_any,
  file_google_protobuf_empty,
  file_google_protobuf_timestamp,
  MessageOptionsSchema,
  type MethodDescriptorProto,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
  ServiceOptionsSchema,
} from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, field as rulesOption } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { http } from "#gen/google/api/annotations_pb.js";
import { HttpRuleSchema } from "#gen/google/api/http_pb.js";
import { file_google_api_httpbody } from "#gen/google/api/httpbody_pb.js";
import {
  camel_case,
  header,
  JsonFieldSchema,
  json,
  other_success_statuses,
  RestProfileSchema,
  rest,
  StreamCursorSchema,
  stream_cursor,
  success_status,
  text_request,
  text_response,
  type Validation,
  validation,
} from "#gen/runnel/options/v1/options_pb.js";

export interface FieldSpec {
  readonly name: string;
  readonly number: number;
  readonly type?: FieldDescriptorProto_Type;
  /** The name of a message or enum, with a leading dot. */
  readonly typeName?: string;
  readonly repeated?: boolean;
  readonly optional?: boolean;
  /** True for a member of the oneof `choice`. */
  readonly oneof?: boolean;
  readonly json?: MessageInitShape<typeof JsonFieldSchema>;
  readonly cursor?: MessageInitShape<typeof StreamCursorSchema>;
  /** The type of its keys, which makes it a map; its values have the type of the field. */
  readonly mapKey?: FieldDescriptorProto_Type;
  /** The name of a header that fills it. */
  readonly header?: string;
  /** The rules of buf.validate. */
  readonly rules?: MessageInitShape<typeof FieldRulesSchema>;
}

export interface MethodSpec {
  readonly rule?: MessageInitShape<typeof HttpRuleSchema> | undefined;
  /** The names of messages, with a leading dot. Default: `.test.Request`. */
  readonly input?: string;
  readonly output?: string;
  readonly client?: boolean;
  readonly server?: boolean;
  readonly successStatus?: number;
  readonly otherSuccessStatuses?: number[];
  readonly validation?: Validation;
  readonly textRequest?: string;
  readonly textResponse?: string;
}

export interface ServiceSpec {
  /** The fields of `test.Request`, which may contain itself. Fields without a type are strings. */
  readonly fields: readonly FieldSpec[];
  /** A second message, for the output of methods. */
  readonly response?: { readonly name: string; readonly fields: readonly FieldSpec[] };
  readonly methods: Readonly<Record<string, MethodSpec>>;
  readonly profile?: MessageInitShape<typeof RestProfileSchema>;
  /** True prints the keys of `test.Request` in lower camel case. */
  readonly camelCase?: boolean;
}

/** Builds a message `test.Request` that may contain itself. Fields without a type are strings. */
export function buildMessage(fields: readonly FieldSpec[], camelCase = false): DescMessage {
  return onlyMethod(buildService({ fields, methods: { Call: {} }, camelCase })).input;
}

/** Builds a method `test.TestService.Call` from `test.Request` to `test.Request`. */
export function buildMethod(
  fields: readonly FieldSpec[],
  rule: MessageInitShape<typeof HttpRuleSchema> | undefined,
  streaming: { readonly client?: boolean; readonly server?: boolean } = {},
): DescMethod {
  return onlyMethod(buildService({ fields, methods: { Call: { rule, ...streaming } } }));
}

function onlyMethod({ methods: [method] }: DescService): DescMethod {
  if (method === undefined) {
    throw new Error("the test method was not built");
  }
  return method;
}

/** Builds a service `test.TestService`. */
export function buildService({ fields, response, methods, profile, camelCase = false }: ServiceSpec): DescService {
  const options = create(ServiceOptionsSchema);
  if (profile !== undefined) {
    setExtension(options, rest, create(RestProfileSchema, profile));
  }
  const messageOptions = create(MessageOptionsSchema);
  setExtension(messageOptions, camel_case, camelCase);
  const imported = [
    file_google_protobuf_timestamp.proto,
    file_google_protobuf_empty.proto,
    file_google_protobuf_any.proto,
    file_google_api_httpbody.proto,
  ];
  const file = create(FileDescriptorProtoSchema, {
    name: "test.proto",
    package: "test",
    syntax: "proto3",
    dependency: imported.map(({ name }) => name),
    messageType: [
      {
        name: "Request",
        field: fields.map((spec) => buildField(spec, fields)),
        oneofDecl: buildOneofs(fields),
        nestedType: fields.flatMap(buildMapEntry),
        options: messageOptions,
      },
      ...(response === undefined
        ? []
        : [
            {
              name: response.name,
              field: response.fields.map((spec) => buildField(spec, response.fields)),
              oneofDecl: buildOneofs(response.fields),
            },
          ]),
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
    service: [{ name: "TestService", options, method: Object.entries(methods).map(buildMethodProto) }],
  });
  const set = create(FileDescriptorSetSchema, { file: [...imported, file] });
  const service = createFileRegistry(set).getService("test.TestService");
  if (service === undefined) {
    throw new Error("the test service was not built");
  }
  return service;
}

function buildMethodProto([name, spec]: [string, MethodSpec]): MethodDescriptorProto {
  const options = create(MethodOptionsSchema);
  if (spec.rule !== undefined) {
    setExtension(options, http, create(HttpRuleSchema, spec.rule));
  }
  if (spec.successStatus !== undefined) {
    setExtension(options, success_status, spec.successStatus);
  }
  if (spec.otherSuccessStatuses !== undefined) {
    setExtension(options, other_success_statuses, spec.otherSuccessStatuses);
  }
  if (spec.validation !== undefined) {
    setExtension(options, validation, spec.validation);
  }
  if (spec.textRequest !== undefined) {
    setExtension(options, text_request, spec.textRequest);
  }
  if (spec.textResponse !== undefined) {
    setExtension(options, text_response, spec.textResponse);
  }
  return create(MethodDescriptorProtoSchema, {
    name,
    inputType: spec.input ?? ".test.Request",
    outputType: spec.output ?? ".test.Request",
    clientStreaming: spec.client ?? false,
    serverStreaming: spec.server ?? false,
    options,
  });
}

function buildOneofs(fields: readonly FieldSpec[]): { name: string }[] {
  const real = fields.some((field) => field.oneof === true) ? [{ name: "choice" }] : [];
  return [...real, ...fields.filter((field) => field.optional === true).map((field) => ({ name: `_${field.name}` }))];
}

/** Returns the nested message that protoc makes for a map; nothing for another field. */
function buildMapEntry(spec: Pick<FieldSpec, "name" | "mapKey" | "type" | "typeName">): DescriptorProto[] {
  const { name, mapKey, type = FieldDescriptorProto_Type.STRING, typeName } = spec;
  if (mapKey === undefined) {
    return [];
  }
  const label = FieldDescriptorProto_Label.OPTIONAL;
  const field = [
    { name: "key", number: 1, type: mapKey, label },
    { name: "value", number: 2, type, label, ...(typeName === undefined ? {} : { typeName }) },
  ];
  return [create(DescriptorProtoSchema, { name: entryName(name), field, options: { mapEntry: true } })];
}

/** Returns what protoc makes of a map in a message of this name. */
function mapOf(messageName: string, name: string) {
  const type = FieldDescriptorProto_Type.MESSAGE;
  return { type, typeName: `.test.${messageName}.${entryName(name)}`, label: FieldDescriptorProto_Label.REPEATED };
}

function entryName(name: string): string {
  return `${name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Entry`;
}

function buildField(spec: FieldSpec, fields: readonly FieldSpec[]): FieldDescriptorProto {
  const options = create(FieldOptionsSchema);
  if (spec.json !== undefined) {
    setExtension(options, json, create(JsonFieldSchema, spec.json));
  }
  if (spec.cursor !== undefined) {
    setExtension(options, stream_cursor, create(StreamCursorSchema, spec.cursor));
  }
  if (spec.header !== undefined) {
    setExtension(options, header, spec.header);
  }
  if (spec.rules !== undefined) {
    setExtension(options, rulesOption, create(FieldRulesSchema, spec.rules));
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
    ...(spec.mapKey === undefined ? {} : mapOf("Request", spec.name)),
    ...(spec.oneof === true ? { oneofIndex: 0 } : {}),
    ...(spec.optional === true ? { oneofIndex: realOneofs + optionals.indexOf(spec), proto3Optional: true } : {}),
  });
}
