// What the OpenAPI document says about shapes, rules and options that the real contract does not have, or not all of them.

import { create, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type } from "@bufbuild/protobuf/wkt";
import { FieldRulesSchema, Ignore } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { expect, test } from "vitest";
import { type HttpRule, HttpRuleSchema } from "#gen/google/api/http_pb.js";
import { ErrorBody } from "#gen/runnel/options/v1/options_pb.js";
import { errorForms } from "../../src/app/protocols.ts";
import { createOpenApiDocument, type OpenApiDocument } from "../../src/surfaces/openapi/document.ts";
import type { Operation } from "../../src/surfaces/openapi/operation.ts";
import { buildService, type FieldSpec, type MethodSpec } from "./descriptors.ts";

const { BOOL, BYTES, DOUBLE, INT32, INT64, MESSAGE, STRING, UINT64 } = FieldDescriptorProto_Type;

const uuid: RuleSpec = { wellKnown: { case: "uuid", value: true } };

test.each([
  [{ type: INT32 }, { type: "integer", format: "int32" }],
  [{ type: INT64 }, { type: "integer", format: "int64" }],
  [{ type: UINT64 }, { type: "integer", format: "uint64", minimum: 0 }],
  [{ type: DOUBLE }, { type: "number", format: "double" }],
  [{ type: BOOL }, { type: "boolean" }],
  [{ type: BYTES }, { type: "string", contentEncoding: "base64" }],
  [
    { type: MESSAGE, typeName: ".google.protobuf.Timestamp" },
    { type: "string", format: "date-time" },
  ],
  [{ repeated: true }, { type: "array", items: { type: "string" } }],
  [{ json: { raw: true } }, { description: "Any JSON value." }],
  [{ json: { raw: true, nullWhenUnset: true }, optional: true }, { description: "Any JSON value." }],
  [
    { json: { raw: true }, rules: { string: { const: "{}", prefix: "{" } } },
    { description: 'Any JSON value. As text: const "{}". Begins with `{`.' },
  ],
  [
    { json: { raw: true }, repeated: true },
    { type: "array", items: {}, description: "Any JSON value." },
  ],
  [{ json: { nullWhenUnset: true }, optional: true }, { anyOf: [{ type: "string" }, { type: "null" }] }],
  [
    { json: { nullWhenUnset: true }, type: MESSAGE, typeName: ".test.Request" },
    { anyOf: [{ $ref: "#/components/schemas/Request" }, { type: "null" }] },
  ],
] as const)("a field with %j is %j", (spec, schema) => {
  expect(fieldOf(spec)).toEqual(schema);
});

test.each([
  ["const", { string: { const: "a" } }, { type: "string", const: "a" }],
  ["in", { string: { in: ["a", "b"] } }, { type: "string", enum: ["a", "b"] }],
  ["not_in", { string: { notIn: ["a"] } }, { type: "string", not: { enum: ["a"] } }],
  ["len", { string: { len: 3n } }, { type: "string", minLength: 3, maxLength: 3 }],
  ["min_len, max_len", { string: { minLen: 1n, maxLen: 9n } }, { type: "string", minLength: 1, maxLength: 9 }],
  // A length in JSON Schema counts characters, so it cannot express a limit of bytes.
  ["max_bytes", { string: { maxBytes: 9n } }, { type: "string", description: "At most 9 bytes of UTF-8." }],
  ["pattern", { string: { pattern: "^[a-z]+$" } }, { type: "string", pattern: "^[a-z]+$" }],
  // Only RE2 understands a flag for the whole pattern.
  ["pattern of RE2", { string: { pattern: "(?i)^a$" } }, onlyChecked("string.pattern")],
  ["prefix", { string: { prefix: "rk_" } }, { type: "string", description: "Begins with `rk_`." }],
  ["uuid", { string: uuid }, { type: "string", format: "uuid" }],
  ["ip", { string: { wellKnown: { case: "ip", value: true } } }, onlyChecked("string.ip")],
  ["example", { string: { example: ["a"] } }, { type: "string", examples: ["a"] }],
  ["gte", { int32: { greaterThan: { case: "gte", value: 0 } } }, { type: "integer", format: "int32", minimum: 0 }],
  ["lt", { int32: { lessThan: { case: "lt", value: 9 } } }, { type: "integer", format: "int32", exclusiveMaximum: 9 }],
  [
    "gt, lte",
    { int64: { greaterThan: { case: "gt", value: 0n }, lessThan: { case: "lte", value: 9n } } },
    { type: "integer", format: "int64", exclusiveMinimum: 0, maximum: 9 },
  ],
  [
    "of lists",
    { repeated: { minItems: 1n, maxItems: 4n, unique: true, items: rules({ string: { maxLen: 2n } }) } },
    { type: "array", items: { type: "string", maxLength: 2 }, minItems: 1, maxItems: 4, uniqueItems: true },
  ],
  [
    "of our own",
    { cel: [{ id: "own", message: "must be nice", expression: "this != 'ugly'" }] },
    { type: "string", description: "Refused otherwise: must be nice." },
  ],
  ["of our own without a text", { celExpression: ["this != 'ugly'"] }, onlyChecked("this != 'ugly'")],
  ["ignored", { string: { maxLen: 9n }, ignore: Ignore.ALWAYS }, { type: "string" }],
] as const)("the rule %s has its schema", (_name, spec, schema) => {
  const type = "int32" in spec ? INT32 : "int64" in spec ? INT64 : STRING;
  expect(fieldOf({ type, repeated: "repeated" in spec, rules: spec })).toEqual(schema);
});

test("a field without which a request is refused is required, and so is its parameter", () => {
  const fields = [
    { name: "id", rules: { string: uuid } },
    { name: "text", rules: { string: { minLen: 1n } } },
    { name: "given", optional: true, rules: { string: { minLen: 1n } } },
    { name: "kind", rules: { required: true } },
    { name: "limit", rules: { string: { maxLen: 9n } } },
  ];
  const document = documentOf({ fields, rule: post({ body: "*" }) });
  expect(document.components.schemas?.Request).toMatchObject({ required: ["id", "text", "kind"] });
  const { parameters } = operationOf(documentOf({ fields, rule: get("/v1/things/{id}") }));
  expect(parameters?.filter(({ required }) => required).map(({ name }) => name)).toEqual(["id", "text", "kind"]);
});

test("a field that a response always holds is required there", () => {
  const { components } = documentOf({
    rule: get("/v1/things"),
    response: [
      { name: "always", json: { emitEmpty: true } },
      { name: "or_null", optional: true, json: { nullWhenUnset: true } },
      { name: "sometimes" },
    ],
  });
  expect(components.schemas?.Response).toMatchObject({ required: ["always", "or_null"] });
});

test("a message that contains itself is one component", () => {
  const fields = [{ name: "child", type: MESSAGE, typeName: ".test.Request" }];
  const document = documentOf({ fields, rule: post({ body: "*" }) });
  expect(document.components.schemas?.Request).toEqual({
    type: "object",
    properties: { child: { $ref: "#/components/schemas/Request" } },
  });
});

test("a query names nested fields, and stops where a message contains itself", () => {
  const { parameters } = operationOf(
    documentOf({
      fields: [
        { name: "name" },
        { name: "tags", repeated: true },
        { name: "page", type: MESSAGE, typeName: ".test.Response" },
        { name: "pages", type: MESSAGE, typeName: ".test.Response", repeated: true },
      ],
      response: [
        { name: "size", type: INT32 },
        { name: "next", type: MESSAGE, typeName: ".test.Response" },
      ],
      rule: get("/v1/things"),
    }),
  );
  expect(parameters).toEqual([
    { name: "name", in: "query", schema: { type: "string" } },
    { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
    { name: "page.size", in: "query", schema: { type: "integer", format: "int32" } },
  ]);
});

test("a body of one field leaves the others to path and query", () => {
  const operation = operationOf(
    documentOf({
      fields: [{ name: "id" }, { name: "thing", type: MESSAGE, typeName: ".test.Response" }, { name: "mode" }],
      rule: post({ path: "/v1/things/{id}", body: "thing" }),
    }),
  );
  expect(operation.parameters?.map((parameter) => [parameter.in, parameter.name])).toEqual([
    ["path", "id"],
    ["query", "mode"],
  ]);
  expect(operation.requestBody).toEqual({
    required: true,
    content: { "application/json": { schema: { $ref: "#/components/schemas/Response" } } },
  });
});

test("a text body has query parameters only for the fields that the text does not fill", () => {
  const text = { name: "text", rules: { string: { minLen: 1n } } };
  const fields = [{ name: "id" }, text, { name: "mode", rules: { required: true } }];
  const rule = post({ path: "/v1/things/{id}", body: "*" });
  const { parameters, requestBody } = operationOf(documentOf({ fields, rule, textRequest: "text" }));
  expect(parameters?.map(({ name, required }) => [name, required])).toEqual([
    ["id", true],
    ["mode", undefined],
  ]);
  expect(requestBody?.content).toMatchObject({
    "application/json": { schema: { required: ["text", "mode"] } },
    "text/plain": { schema: { type: "string", minLength: 1 } },
  });
});

test("a text answer that may have no content declares that status without content", () => {
  const rule = get("/v1/things");
  const response = [{ name: "text" }];
  const { responses } = operationOf(documentOf({ rule, response, otherSuccessStatuses: [204], textResponse: "text" }));
  expect(responses["200"]).toMatchObject({ content: { "text/plain": {}, "application/json": {} } });
  expect(responses["204"]).toEqual({ description: "No Content." });
});

test("a variable of several segments and an unnamed wildcard are plain names", () => {
  const { paths } = documentOf({ fields: [{ name: "name" }], rule: get("/v1/{name=shelves/*/books/**}:read") });
  expect(Object.keys(paths)).toEqual(["/v1/{name}:read"]);
  expect(paths["/v1/{name}:read"]?.get?.parameters).toEqual([
    {
      name: "name",
      in: "path",
      description: "Has the form `shelves/*/books/**`.",
      required: true,
      schema: { type: "string" },
    },
  ]);

  const wild = documentOf({ rule: get("/v1/*/things") });
  expect(wild.paths["/v1/{segment_2}/things"]?.get?.parameters).toEqual([
    { name: "segment_2", in: "path", required: true, schema: { type: "string" } },
  ]);
});

test("every additional binding of a method is an operation with a number", () => {
  const rule = create(HttpRuleSchema, get("/v1/things"));
  rule.additionalBindings = [create(HttpRuleSchema, post({ path: "/v1/things" })), create(HttpRuleSchema, get("/v2"))];
  const { paths } = documentOf({ rule });
  const ids = Object.entries(paths).map(([path, item]) => [path, Object.values(item).map((each) => each.operationId)]);
  expect(ids).toEqual([
    ["/v1/things", ["TestService_ReadThing", "TestService_ReadThing_2"]],
    ["/v2", ["TestService_ReadThing_3"]],
  ]);
});

test("every declared success status is described, and 204 has no content", () => {
  const { responses } = operationOf(
    documentOf({ rule: post({}), successStatus: 202, otherSuccessStatuses: [200, 204] }),
  );
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Response" } } };
  expect(responses).toMatchObject({
    202: { description: "Accepted.", content },
    200: { description: "OK.", content },
    204: { description: "No Content." },
  });
  expect(responses["204"]).not.toHaveProperty("content");
});

test("a raw body is a JSON document", () => {
  const fields = [{ name: "id" }, { name: "raw", type: MESSAGE, typeName: ".google.api.HttpBody" }];
  const operation = operationOf(
    documentOf({
      fields,
      response: fields,
      rule: { ...post({ path: "/v1/things/{id}", body: "raw" }), responseBody: "raw" },
    }),
  );
  const content = { "application/json": { schema: { type: "object" } } };
  expect(operation.requestBody).toEqual({ required: true, content });
  expect(operation.responses["200"]).toEqual({ description: "OK.", content });
});

test("a stream of raw bodies is a file of any type", () => {
  const response = [{ name: "raw", type: MESSAGE, typeName: ".google.api.HttpBody" }];
  const operation = operationOf(
    documentOf({ response, rule: { ...get("/v1/things"), responseBody: "raw" }, server: true }),
  );
  expect(operation.responses["200"]).toEqual({ description: "OK.", content: { "*/*": {} } });
});

test.each([
  [ErrorBody.UNSPECIFIED, "RunnelError", ["error", "code"]],
  [ErrorBody.RUNNEL, "RunnelError", ["error", "code"]],
  [ErrorBody.BARE, "BareError", ["error"]],
  [ErrorBody.JOBSPEC, "JobspecError", ["error", "error_code"]],
])("a service with error bodies of kind %d describes %s", (errorBody, name, required) => {
  const document = documentOf({ rule: get("/v1/things"), errorBody });
  expect(operationOf(document).responses.default).toEqual({ $ref: `#/components/responses/${name}` });
  const errors = Object.keys(document.components.schemas ?? {}).filter((each) => each.endsWith("Error"));
  expect(errors).toEqual([name]);
  expect(document.components.schemas?.[name]).toMatchObject({ required });
});

test("a message whose short name is taken gets its full name", () => {
  const document = documentOf({ rule: get("/v1/things"), responseName: "RunnelError" });
  expect(operationOf(document).responses["200"]).toMatchObject({
    content: { "application/json": { schema: { $ref: "#/components/schemas/test.RunnelError" } } },
  });
});

test("a method that a path cannot hold is refused at the start", () => {
  const rule = { pattern: { case: "custom", value: { kind: "LOCK", path: "/v1/things" } } } as const;
  expect(() => documentOf({ rule })).toThrow(expect.objectContaining({ reason: "CONFIG_INVALID" }));
});

test("a service without REST is not in the document", () => {
  const { paths, tags } = documentOf({});
  expect([paths, tags]).toEqual([{}, []]);
});

type Field = Partial<Omit<FieldSpec, "rules" | "number">> & { readonly rules?: RuleSpec };

interface ContractSpec extends Omit<MethodSpec, "input" | "output"> {
  readonly fields?: readonly Field[];
  readonly response?: readonly Field[];
  readonly responseName?: string;
  readonly errorBody?: ErrorBody;
}

/** Rules of buf.validate: the kind, its rules, and the rules for every kind. */
type RuleSpec = Readonly<Record<string, unknown>>;

function documentOf(spec: ContractSpec): OpenApiDocument {
  const { fields = [], response = [], responseName = "Response", errorBody, ...method } = spec;
  const service = buildService({
    fields: numbered(fields),
    response: { name: responseName, fields: numbered(response) },
    methods: { ReadThing: { ...method, output: `.test.${responseName}` } },
    ...(errorBody !== undefined && { profile: { errorBody } }),
  });
  return createOpenApiDocument({ services: [service], reasons: [], errorForms, version: "1.2.3" });
}

function numbered(fields: readonly Field[]): FieldSpec[] {
  return fields.map(({ rules: own, ...field }, index) => ({
    ...{ name: "it", number: index + 1 },
    ...field,
    ...(own && { rules: rules(own) }),
  }));
}

function operationOf({ paths }: OpenApiDocument): Operation {
  const [operation] = Object.values(paths).flatMap((item) => Object.values(item));
  if (operation === undefined) {
    throw new Error("the document has no operation");
  }
  return operation;
}

/** Returns the schema of a field in a request. */
function fieldOf(spec: Field): unknown {
  const { components } = documentOf({ fields: [{ name: "it", ...spec }], rule: post({ body: "*" }) });
  const request = components.schemas?.Request as { properties: Record<string, unknown> } | undefined;
  return request?.properties.it;
}

function get(path: string): { pattern: HttpRule["pattern"] } {
  return { pattern: { case: "get", value: path } };
}

function post({ path = "/v1/things", body = "" }: { path?: string; body?: string }): {
  pattern: HttpRule["pattern"];
  body: string;
} {
  return { pattern: { case: "post", value: path }, body };
}

function onlyChecked(rule: string): object {
  return { type: "string", description: `Checked by the rule \`${rule}\`.` };
}

function rules({ required, cel, celExpression, ignore, ...type }: RuleSpec): MessageShape<typeof FieldRulesSchema> {
  const [kind] = Object.entries(type);
  const init = {
    ...(required === undefined ? {} : { required }),
    ...(cel === undefined ? {} : { cel }),
    ...(celExpression === undefined ? {} : { celExpression }),
    ...(ignore === undefined ? {} : { ignore }),
    ...(kind === undefined ? {} : { type: { case: kind[0], value: kind[1] } }),
  };
  return create(FieldRulesSchema, init as MessageInitShape<typeof FieldRulesSchema>);
}
