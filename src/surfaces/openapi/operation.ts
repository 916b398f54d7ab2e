// One binding of a method as an OpenAPI operation.

import { STATUS_CODES } from "node:http";
import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { other_success_statuses, success_status } from "#gen/runnel/options/v1/options_pb.js";
import { jsonShape } from "../../platform/base/json/shape.ts";
import type { Binding } from "../rest/rule.ts";
import { describe } from "./comments.ts";
import type { ErrorResponses } from "./errors.ts";
import { describeEventStream } from "./events.ts";
import type { Schema } from "./json-schema.ts";
import { describeParameters, fieldsOfPath, type Parameter } from "./parameters.ts";
import type { Schemas } from "./schema.ts";
import { describeSecurity, type SecurityRequirement } from "./security.ts";

/** An OpenAPI operation. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: object };
  readonly responses: Readonly<Record<string, object>>;
  readonly security: readonly SecurityRequirement[];
}

/** Describes a binding. `index` is its position among the bindings of its method; all but the first get a numbered id. */
export function describeOperation(
  binding: Binding,
  index: number,
  { schemas, errors }: { readonly schemas: Schemas; readonly errors: ErrorResponses },
): Operation {
  const { method } = binding;
  const service = method.parent;
  const parameters = describeParameters(binding, schemas);
  const content = describeRequest(binding, schemas);
  const success = describeSuccess(binding, schemas, errors);
  return {
    operationId: `${service.name}_${method.name}${index === 0 ? "" : `_${index + 1}`}`,
    summary: toWords(method.name),
    ...describe(method),
    tags: [service.name],
    ...(method.deprecated ? { deprecated: true } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(content === undefined ? {} : { requestBody: { required: true, content } }),
    responses: { ...success, ...errors.describe(binding) },
    security: describeSecurity(method),
  };
}

/** Returns the content of the request body, or undefined when the operation takes no body. */
function describeRequest(binding: Binding, schemas: Schemas): object | undefined {
  const { body, method } = binding;
  switch (body.kind) {
    case "none":
      return undefined;
    case "field":
      return describeField(body.field, schemas);
    case "whole":
      return body.optional
        ? undefined
        : {
            ...describeRest(method.input, fieldsOfPath(binding), schemas),
            ...describeText(binding.textRequest, schemas),
          };
    default:
      return body satisfies never;
  }
}

/** Describes a message without the fields that the path fills. */
function describeRest(desc: DescMessage, omitted: ReadonlySet<DescField>, schemas: Schemas): object {
  return omitted.size === 0 ? describeMessage(desc, schemas) : jsonContent(schemas.describeMessage(desc, omitted));
}

function describeSuccess(binding: Binding, schemas: Schemas, errors: ErrorResponses): Record<string, object> {
  const { method, responseField } = binding;
  if (method.methodKind !== "server_streaming") {
    return unaryResponses(binding, schemas);
  }
  return (responseField?.message ?? method.output).typeName === httpBody
    ? { 200: { description: `${STATUS_CODES[200]}.`, content: { "*/*": {} } } }
    : streamResponses(describeEventStream(method, schemas, errors.referBody(method)));
}

function unaryResponses({ method, responseField, textResponse }: Binding, schemas: Schemas): Record<string, object> {
  const message =
    responseField === undefined ? describeMessage(method.output, schemas) : describeField(responseField, schemas);
  const content = { ...describeText(textResponse, schemas), ...message };
  const note = textResponse === undefined ? "" : " Plain text, unless `Accept` names JSON and no text.";
  const statuses = [getOption(method, success_status) || 200, ...getOption(method, other_success_statuses)];
  return Object.fromEntries(
    statuses.map((status) => {
      const description = `${STATUS_CODES[status] ?? status}.`;
      return [String(status), status === 204 ? { description } : { description: `${description}${note}`, content }];
    }),
  );
}

function streamResponses(content: object): Record<string, object> {
  return {
    200: { description: `${STATUS_CODES[200]}.`, content },
    204: { description: "The stream is complete: do not reconnect." },
  };
}

function describeField(field: DescField, schemas: Schemas): object {
  if (field.message?.typeName === httpBody) {
    return jsonContent({ ...documentSchema, ...describe(field) });
  }
  return jsonContent(describeSchema(field, schemas));
}

function describeSchema(field: DescField, schemas: Schemas): Schema {
  const shape = jsonShape(field.parent).byName.get(field.name);
  return shape === undefined ? {} : schemas.describeField(shape);
}

/** Describes the field as a plain-text body. Returns an empty object without a field. */
function describeText(field: DescField | undefined, schemas: Schemas): object {
  return field === undefined ? {} : { "text/plain": { schema: describeSchema(field, schemas) } };
}

function describeMessage(desc: DescMessage, schemas: Schemas): object {
  return jsonContent(desc.typeName === httpBody ? documentSchema : schemas.refer(desc));
}

/** A body that the service reads as it was sent: all of them are JSON documents with a contract of their own. */
const httpBody = "google.api.HttpBody";
const documentSchema = { type: "object" };

function jsonContent(schema: Schema): object {
  return { "application/json": { schema } };
}

/** Converts a method name to words: `ListRunResults` gives `List run results`. */
function toWords(name: string): string {
  const words = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
