// Compiles google.api.http rules against their methods: the source of each request field, and the field that is the answer. An
// invalid rule fails at startup, never during a call.

import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { http } from "#gen/google/api/annotations_pb.js";
import type { HttpRule } from "#gen/google/api/http_pb.js";
import { header, json, stream_cursor, text_request, text_response } from "#gen/runnel/options/v1/options_pb.js";
import { Fault } from "../../platform/base/fault.ts";
import { type FieldPath, formatFieldPath, resolveFieldPath } from "../../platform/base/json/field-path.ts";
import { isHttpBody } from "../../platform/base/json/shape.ts";
import { isTextValue } from "../../platform/base/json/value-text.ts";
import { type PathTemplate, parseTemplate } from "./template.ts";

/** One HTTP binding of a method. */
export interface Binding {
  readonly method: DescMethod;
  readonly httpMethod: string;
  readonly template: PathTemplate;
  /** The fields that the path fills, by the name of the variable in the template. */
  readonly pathFields: ReadonlyMap<string, FieldPath>;
  readonly body: BodyRule;
  /** The response field that is the body of the answer; undefined means the whole message. */
  readonly responseField: DescField | undefined;
  readonly cursor: CursorRule | undefined;
  /** The fields that a header fills, by the header's name in lower case. */
  readonly headerFields: ReadonlyMap<string, DescField>;
  /** The string that a plain-text body fills; undefined when the method takes no text. */
  readonly textRequest: DescField | undefined;
  /** The string that is the plain-text body of the answer; undefined when the answer is never text. */
  readonly textResponse: DescField | undefined;
}

/** The content of a request body. */
export type BodyRule =
  | { readonly kind: "none" }
  /** The body is the message. `optional`: the path fills every field, so a body has nothing to add. */
  | { readonly kind: "whole"; readonly optional: boolean }
  | { readonly kind: "field"; readonly field: DescField };

/** The request field with a stream's resume position, and its aliases as query keys. */
export interface CursorRule {
  readonly field: DescField;
  readonly aliases: readonly string[];
}

/** Compiles all bindings of a method. Empty without a rule. Throws Fault CONFIG_INVALID that names the method. */
export function compileBindings(method: DescMethod): Binding[] {
  if (!hasOption(method, http)) {
    return [];
  }
  const rule = getOption(method, http);
  if (method.methodKind !== "unary" && method.methodKind !== "server_streaming") {
    throw invalid(method, "a stream of requests cannot be served over REST");
  }
  return [rule, ...rule.additionalBindings].map((each, index) => {
    if (index > 0 && each.additionalBindings.length > 0) {
      throw invalid(method, "additional_bindings cannot be nested");
    }
    return compileBinding(method, each);
  });
}

/** Returns the binding for a plain-text body: the other fields then come from path and query. */
export function bindText<B extends Binding>(binding: B, field: DescField): B {
  return { ...binding, body: { kind: "field", field } };
}

function compileBinding(method: DescMethod, rule: HttpRule): Binding {
  const { httpMethod, path } = readPattern(method, rule);
  const template = parseTemplate(path);
  const pathFields = new Map(
    template.variables.map(({ fieldPath }) => [fieldPath, resolvePathField(method, fieldPath)]),
  );
  assertDistinctFields(method, pathFields);
  const body = resolveBody(method, rule.body, pathFields);
  if (httpMethod === "GET" && body.kind !== "none") {
    throw invalid(method, "GET takes no body");
  }
  const cursor = findCursor(method);
  const responseField = resolveResponseField(method, rule);
  return {
    method,
    httpMethod,
    template,
    pathFields,
    body,
    responseField,
    cursor,
    headerFields: findHeaders(method),
    textRequest: resolveTextRequest(method, body, pathFields),
    textResponse: resolveTextResponse(method, responseField),
  };
}

function readPattern(method: DescMethod, { pattern }: HttpRule): { httpMethod: string; path: string } {
  switch (pattern.case) {
    case "get":
    case "put":
    case "post":
    case "delete":
    case "patch":
      return { httpMethod: pattern.case.toUpperCase(), path: pattern.value };
    case "custom":
      if (!/^[A-Z]+$/.test(pattern.value.kind)) {
        throw invalid(method, `custom method "${pattern.value.kind}" is not a word in upper case`);
      }
      return { httpMethod: pattern.value.kind, path: pattern.value.path };
    case undefined:
      throw invalid(method, "the rule has no pattern");
    default:
      return pattern satisfies never;
  }
}

function resolvePathField(method: DescMethod, text: string): FieldPath {
  const path = resolveFieldPath(method.input, text);
  if (path === undefined) {
    throw invalid(method, `path variable ${text} is not a field of ${method.input.typeName}`);
  }
  if (path.field.fieldKind === "list" || !isTextValue(path.field)) {
    throw invalid(method, `path variable ${text} must be a single value`);
  }
  return path;
}

/**
 * Checks that no two variables fill the same field. `{run_id}/{runId}` names one field twice, which the template cannot detect.
 */
function assertDistinctFields(method: DescMethod, pathFields: ReadonlyMap<string, FieldPath>): void {
  const names = new Set([...pathFields.values()].map(formatFieldPath));
  if (names.size < pathFields.size) {
    throw invalid(method, "two path variables fill the same field");
  }
}

function resolveBody(method: DescMethod, name: string, pathFields: ReadonlyMap<string, FieldPath>): BodyRule {
  if (name === "") {
    return { kind: "none" };
  }
  if (name === "*") {
    const filled = new Set([...pathFields.values()].map(formatFieldPath));
    return { kind: "whole", optional: method.input.fields.every((field) => filled.has(field.name)) };
  }
  const field = findTopField(method.input, name);
  if (field === undefined) {
    throw invalid(method, `body field ${name} is not a field of ${method.input.typeName}`);
  }
  return { kind: "field", field };
}

function resolveResponseField(method: DescMethod, { responseBody }: HttpRule): DescField | undefined {
  if (responseBody === "") {
    return undefined;
  }
  const field = findTopField(method.output, responseBody);
  if (field === undefined) {
    throw invalid(method, `response_body ${responseBody} is not a field of ${method.output.typeName}`);
  }
  if (method.methodKind !== "unary" && !isHttpBody(field.message)) {
    throw invalid(method, `response_body ${responseBody} of a stream is not a google.api.HttpBody`);
  }
  return field;
}

function findCursor(method: DescMethod): CursorRule | undefined {
  const [field, ...others] = method.input.fields.filter((candidate) => hasOption(candidate, stream_cursor));
  if (field === undefined) {
    return undefined;
  }
  if (others.length > 0 || field.fieldKind !== "scalar" || method.methodKind !== "server_streaming") {
    throw invalid(method, "stream_cursor marks one plain field of a stream's request");
  }
  return { field, aliases: getOption(field, stream_cursor).queryAliases };
}

function findHeaders({ input }: DescMethod): ReadonlyMap<string, DescField> {
  const named = input.fields.filter((field) => hasOption(field, header));
  return new Map(named.map((field) => [getOption(field, header).toLowerCase(), field]));
}

function resolveTextRequest(
  method: DescMethod,
  body: BodyRule,
  pathFields: ReadonlyMap<string, FieldPath>,
): DescField | undefined {
  const name = getOption(method, text_request);
  if (name === "") {
    return undefined;
  }
  if (body.kind !== "whole") {
    throw invalid(method, `text_request ${name} needs the body "*"`);
  }
  const field = findTextField(method.input, name);
  if (field === undefined) {
    throw invalid(method, `text_request ${name} is not a plain string of ${method.input.typeName}`);
  }
  if ([...pathFields.values()].some((path) => formatFieldPath(path) === name) || hasOption(field, header)) {
    throw invalid(method, `text_request ${name} is filled by the path or a header already`);
  }
  return field;
}

function resolveTextResponse(method: DescMethod, responseField: DescField | undefined): DescField | undefined {
  const name = getOption(method, text_response);
  if (name === "") {
    return undefined;
  }
  const field = findTextField(method.output, name);
  if (field === undefined || method.methodKind !== "unary") {
    throw invalid(method, `text_response ${name} is not a plain string of a unary ${method.output.typeName}`);
  }
  if (isHttpBody(responseField?.message)) {
    throw invalid(method, `text_response ${name} cannot be combined with the body ${responseField?.name}`);
  }
  return field;
}

/** Returns a plain string field: not in a oneof, without raw JSON. Undefined for any other field. */
function findTextField(desc: DescMessage, name: string): DescField | undefined {
  const field = findTopField(desc, name);
  const isPlain = field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING && field.oneof === undefined;
  return isPlain && !getOption(field, json).raw && !isHttpBody(desc) ? field : undefined;
}

function findTopField(desc: DescMessage, name: string): DescField | undefined {
  return desc.fields.find((field) => field.name === name);
}

function invalid(method: DescMethod, problem: string): Fault {
  return new Fault("CONFIG_INVALID", `google.api.http of ${method.parent.typeName}.${method.name}: ${problem}`);
}
