// The OpenAPI document of the real contract: valid in itself, and consistent with the rules and with what the surface prints.

import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { type ReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { comments } from "#gen/comments.js";
import { ExchangeService } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import { AuthService } from "#gen/runnel/v1/auth_service_pb.js";
import { ProviderService } from "#gen/runnel/v1/provider_service_pb.js";
import { RunService } from "#gen/runnel/v1/run_service_pb.js";
import { SessionService } from "#gen/runnel/v1/session_service_pb.js";
import { SystemService } from "#gen/runnel/v1/system_service_pb.js";
import { errorForms, examples } from "../../src/app/protocols.ts";
import { printMessage } from "../../src/platform/base/json/print.ts";
import { coreReasons } from "../../src/platform/base/reasons.ts";
import { createOpenApiDocument, printOpenApiDocument } from "../../src/surfaces/openapi/document.ts";
import type { Operation } from "../../src/surfaces/openapi/operation.ts";
import { compileBindings } from "../../src/surfaces/rest/rule.ts";
import { findReferences, lookUp } from "./openapi-schema.ts";

/** Returns the comment of a part of the contract, followed by the text of its rules. */
function said(name: string, rules = ""): string {
  return `${comments.get(name)} ${rules}`.trimEnd();
}

const services = [SessionService, RunService, SystemService, AuthService, ProviderService, ExchangeService];
const reasons = Object.values(coreReasons);
const document = createOpenApiDocument({ services, reasons, errorForms, examples, version: "1.2.3" });
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([httpMethod, operation]) => ({ path, httpMethod, operation })),
);

test("the document contains its title, version and server", () => {
  expect(document).toMatchObject({
    openapi: "3.1.0",
    info: { title: "Runnel", version: "1.2.3" },
    servers: [{ url: "/" }],
    tags: services.map(({ name, typeName }) => ({ name, description: said(typeName) })),
  });
  const elsewhere = createOpenApiDocument({
    services,
    reasons,
    errorForms,
    version: "1.2.3",
    serverUrl: "https://runnel.example",
  });
  expect(elsewhere.servers).toEqual([{ url: "https://runnel.example" }]);
});

test("every rule of the contract is an operation with a unique id", () => {
  const rules = services.flatMap(({ methods }) => methods.flatMap(compileBindings));
  expect(rules.length).toBeGreaterThan(0);
  expect(operations.map(({ httpMethod }) => httpMethod.toUpperCase()).toSorted()).toEqual(
    rules.map(({ httpMethod }) => httpMethod).toSorted(),
  );
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(rules.length);
});

test("every operation, parameter and field is described", () => {
  const parameters = operations.flatMap(({ operation }) => operation.parameters ?? []);
  const isSilent = ({ description }: { readonly description?: string }) => (description ?? "") === "";
  expect(parameters.filter(isSilent)).toEqual([]);
  expect(operations.filter(({ operation }) => isSilent(operation))).toEqual([]);
  const fields = Object.entries(document.components.schemas ?? {}).flatMap(([name, schema]) =>
    Object.entries((schema as { properties?: Record<string, { description?: string }> }).properties ?? {}).map(
      ([key, { description }]) => ({ name: `${name}.${key}`, ...(description && { description }) }),
    ),
  );
  expect(fields.length).toBeGreaterThan(100);
  expect(fields.filter(isSilent)).toEqual([]);
});

test("no two paths differ only in the names of their parameters", () => {
  const shapes = Object.keys(document.paths).map((path) => path.replace(/\{[^}]*\}/g, "{}"));
  expect(shapes).toEqual([...new Set(shapes)]);
});

test("every reference resolves, and every component is referenced", () => {
  const references = findReferences(document);
  expect(references.filter((reference) => lookUp(document, reference) === undefined)).toEqual([]);
  const { schemas, responses } = document.components;
  const components = [
    ...Object.keys(schemas ?? {}).map((name) => `#/components/schemas/${name}`),
    ...Object.keys(responses ?? {}).map((name) => `#/components/responses/${name}`),
  ];
  expect(components.filter((name) => !references.includes(name))).toEqual([]);
});

test.each(operations)("$httpMethod $path declares the names of its path, and no name twice", ({ path, operation }) => {
  const parameters = operation.parameters ?? [];
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  expect(inPath.map(({ name }) => name)).toEqual([...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name));
  expect(inPath.every(({ required }) => required === true)).toBe(true);
  const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
  expect(names).toEqual([...new Set(names)]);
});

const signed = ["client_id", "nonce", "signature", "timestamp"];

test.each([
  ["SessionService_CreateSession", [signed, ["api_key"]]],
  ["AuthService_CreateStreamTicket", [signed, ["api_key"]]],
  ["SessionService_StreamSession", [signed, ["api_key"], ["ticket"]]],
  ["RunService_TailRun", [signed, ["api_key"], ["ticket"]]],
  ["AuthService_CreateApiKey", [["admin_token"]]],
  ["SystemService_GetVersion", []],
])("%s may be called with %j", (id, ways) => {
  const { security } = operationOf(id);
  expect(security.map((requirement) => Object.keys(requirement).toSorted())).toEqual(ways);
});

test("every kind of authentication is a scheme, and every scheme is used", () => {
  const used = operations.flatMap(({ operation }) => operation.security.flatMap((way) => Object.keys(way)));
  expect([...new Set(used)].toSorted()).toEqual(Object.keys(document.components.securitySchemes ?? {}).toSorted());
});

test("a public method has no 401 and no 403", () => {
  expect(Object.keys(operationOf("SystemService_GetVersion").responses)).toEqual([
    "200",
    "400",
    "429",
    "503",
    "default",
  ]);
});

test.each([
  ["SessionService_CreateSession", "201"],
  ["SessionService_SendMessage", "202"],
  ["SessionService_GetSession", "200"],
])("%s succeeds with %s", (id, status) => {
  expect(Object.keys(operationOf(id).responses)[0]).toBe(status);
});

test("a response that is one field of its message is described as that field", () => {
  expect(operationOf("SessionService_GetSession").responses["200"]).toEqual({
    description: "OK.",
    content: {
      "application/json": {
        schema: {
          $ref: "#/components/schemas/Session",
          description: said("runnel.v1.GetSessionResponse.session"),
        },
      },
    },
  });
});

test("a body that may be text is described as both, with a query for the other fields", () => {
  const operation = operationOf("ExchangeService_SubmitInbox");
  const request = "runnel.exchange.v1.SubmitInboxRequest";
  const text = { type: "string", description: said(`${request}.text`) };
  const sequence = { type: "integer", format: "int32", minimum: 0 };
  const description = said(`${request}.sequence`);
  expect(operation.requestBody).toEqual({
    required: true,
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: { text, sequence: { ...sequence, description } },
        },
      },
      "text/plain": { schema: text },
    },
  });
  expect(operation.parameters).toEqual([
    {
      name: "exchange_id",
      in: "path",
      description: said(`${request}.exchange_id`),
      required: true,
      schema: { type: "string", examples: ["a1b2c3d4"] },
    },
    {
      name: "sequence",
      in: "query",
      description: `${description} Only for a body of \`text/plain\`.`,
      schema: sequence,
    },
  ]);
  const parse = operationOf("ExchangeService_ParseInbox");
  expect(parse).not.toHaveProperty("parameters");
  expect(Object.keys(parse.requestBody?.content ?? {})).toEqual(["application/json", "text/plain"]);
});

test("an answer that may be text is described as both", () => {
  expect(operationOf("ExchangeService_GetOutbox").responses["200"]).toEqual({
    description: "OK. Plain text, unless `Accept` names JSON and no text.",
    content: {
      "text/plain": { schema: { type: "string", description: said("runnel.exchange.v1.GetOutboxResponse.text") } },
      "application/json": { schema: { $ref: "#/components/schemas/GetOutboxResponse" } },
    },
  });
});

test("a message in camel case is described as it is printed", () => {
  expect(Object.keys((schemaOf("ExchangeSession") as { properties: object }).properties)).toEqual([
    "sessionId",
    "task",
    "sequenceNumber",
    "isComplete",
    "createdAt",
    "updatedAt",
    "lastResults",
    "readFileRequests",
  ]);
});

test("a body without fields is left out", () => {
  expect(operationOf("RunService_CancelRun").requestBody).toBeUndefined();
});

test("an enum is described by its printed words", () => {
  const words = ["queued", "running", "waiting", "completed", "failed", "cancelled"];
  const lines = words.map((word) => `- \`${word}\`: ${said(`runnel.v1.Run.State.STATE_${word.toUpperCase()}`)}`);
  const description = [said("runnel.v1.Run.State"), ...lines].join("\n");
  expect(schemaOf("Run.State")).toEqual({ type: "string", description, enum: words });
});

test("a stream of events with their own payloads describes each payload", () => {
  const content = eventsOf("SessionService_StreamSession");
  expect(content["x-sse-events"]).toEqual({
    text: { $ref: "#/components/schemas/TextEvent" },
    tool_call: { $ref: "#/components/schemas/ToolCallEvent" },
    tool_result: { $ref: "#/components/schemas/ToolResultEvent" },
    error: { $ref: "#/components/schemas/ErrorEvent" },
    done: { $ref: "#/components/schemas/DoneEvent" },
    turn_restarted: { $ref: "#/components/schemas/TurnRestartedEvent" },
  });
  expect(content.schema.description).toContain("- `tool_call`: `ToolCallEvent`");
});

test("a stream of whole results describes their names and its end", () => {
  const content = eventsOf("RunService_TailRun");
  expect(content["x-sse-events"]).toMatchObject({
    "message.delta": { $ref: "#/components/schemas/RunResult" },
    "run.completed": { $ref: "#/components/schemas/RunResult" },
    end: { type: "object" },
    error: { $ref: "#/components/schemas/RunnelError" },
  });
  expect(content.schema.description).toContain("`id:` is the field `sequence`");
});

test("a stream's cursor is a parameter under all its names", () => {
  const parameters = operationOf("RunService_TailRun").parameters ?? [];
  const bounds = { type: "integer", format: "int64", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
  expect(parameters.filter(({ name }) => name !== "run_id" && name !== "text_chars_max")).toEqual([
    { name: "after", in: "query", description: said("runnel.v1.TailRunRequest.after"), schema: bounds },
    { name: "after_seq", in: "query", description: "Same as `after`.", schema: bounds },
    { name: "Last-Event-ID", in: "header", description: expect.stringContaining("reconnects"), schema: bounds },
  ]);
});

test("a failure is described in the form of its service, with the reasons that a body can hold", () => {
  expect(lookUp(document, "#/components/responses/RunnelError.429")).toMatchObject({
    description: "Too Many Requests: `RATE_LIMITED`, `QUOTA_EXHAUSTED`, `CONCURRENCY_EXHAUSTED`.",
    headers: { "Retry-After": { schema: { type: "integer" } } },
    content: { "application/json": { schema: { $ref: "#/components/schemas/RunnelError" } } },
  });
  expect(lookUp(document, "#/components/responses/BareError.429")).toMatchObject({ description: "Too Many Requests." });
});

test("the same descriptors give the same bytes", () => {
  const options = { services, reasons, errorForms, examples, version: "1.2.3" };
  const json = printOpenApiDocument(options);
  expect(json).toBe(printOpenApiDocument(options));
  expect(JSON.parse(json)).toEqual(document);
  expect(json.endsWith("}\n")).toBe(true);
});

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const formats = { "date-time": time, int32: true, int64: true, uint64: true, double: true, uuid: true } as const;
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema(closed(document), "document");

/** Forbids keys that a schema does not name. The samples hold one text in every field, so patterns are left out. */
function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === "pattern" && typeof value === "string") {
      return undefined;
    }
    return typeof value?.properties === "object" ? { ...value, additionalProperties: false } : value;
  });
}

const printed = [...heldBy(services.flatMap(({ methods }) => methods.map(({ output }) => output)))].filter(
  (desc) => schemaOf(shortName(desc)) !== undefined,
);

test.each(printed.map((desc) => [shortName(desc), desc] as const))(
  "the printed %s matches its schema",
  (name, desc) => {
    const validate = ajv.getSchema(`document#/components/schemas/${name}`);
    const membersMax = Math.max(1, ...desc.oneofs.map(({ fields }) => fields.length));
    const samples = [create(desc), ...Array.from({ length: membersMax }, (_, member) => fill(desc, member).message)];
    for (const sample of samples) {
      const printed: unknown = JSON.parse(printMessage(desc, sample));
      expect({ printed, fits: validate?.(printed), errors: validate?.errors }).toMatchObject({ fits: true });
    }
  },
);

function operationOf(id: string): Operation {
  const found = operations.find(({ operation }) => operation.operationId === id);
  if (found === undefined) {
    throw new Error(`no operation ${id}`);
  }
  return found.operation;
}

function schemaOf(name: string): object | undefined {
  return document.components.schemas?.[name];
}

function eventsOf(id: string): { schema: { description: string }; "x-sse-events": Record<string, object> } {
  const { content } = operationOf(id).responses["200"] as { content: Record<string, never> };
  expect(Object.keys(content)).toEqual(["text/event-stream"]);
  return content["text/event-stream"] as never;
}

function shortName({ typeName }: DescMessage): string {
  return typeName.replace(/^runnel\.v1\./, "");
}

/** Returns the messages and all messages that they contain. */
function heldBy(roots: readonly DescMessage[]): ReadonlySet<DescMessage> {
  const messages = new Set(roots);
  // The loop also visits the elements that are added to the set on the way.
  for (const { fields } of messages) {
    for (const { message } of fields) {
      if (message !== undefined) {
        messages.add(message);
      }
    }
  }
  return messages;
}

/** Sets every field, and the given member of each oneof. The nesting of messages is limited. */
function fill(desc: DescMessage, member: number, depth = 0): ReflectMessage {
  const message = reflect(desc);
  for (const field of desc.fields) {
    const { oneof } = field;
    if (oneof !== undefined && oneof.fields[member % oneof.fields.length] !== field) {
      continue;
    }
    if (field.fieldKind === "list") {
      message.get(field).add(sampleOf(field, member, depth));
    } else {
      message.set(field, sampleOf(field, member, depth));
    }
  }
  return message;
}

const depthMax = 6;

function sampleOf(field: DescField, member: number, depth: number): unknown {
  if (field.message?.typeName === TimestampSchema.typeName) {
    return reflect(TimestampSchema, create(TimestampSchema, { seconds: 1_700_000_000n, nanos: 123_000_000 }));
  }
  if (field.message !== undefined) {
    return depth === depthMax ? reflect(field.message) : fill(field.message, member, depth + 1);
  }
  if (field.enum !== undefined) {
    return field.enum.values.at(-1)?.number;
  }
  return field.scalar === undefined ? undefined : scalarSamples[field.scalar];
}

const scalarSamples: Partial<Record<ScalarType, unknown>> = {
  [ScalarType.BOOL]: true,
  [ScalarType.BYTES]: new Uint8Array([1, 2, 3]),
  [ScalarType.DOUBLE]: 0.5,
  [ScalarType.INT32]: 7,
  [ScalarType.INT64]: 7n,
  [ScalarType.STRING]: '{"a":1}',
};
