// Converts URLs of google.api.http rules to OpenAPI: the path as a template of plain names, and the path variables, query keys
// and headers as parameters.

import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { header } from "#gen/runnel/options/v1/options_pb.js";
import { type FieldPath, formatFieldPath } from "../../platform/base/json/field-path.ts";
import { jsonShape } from "../../platform/base/json/shape.ts";
import { isTextValue } from "../../platform/base/json/value-text.ts";
import { type Binding, bindText } from "../rest/rule.ts";
import type { PathTemplate, TemplateSegment, TemplateVariable } from "../rest/template.ts";
import type { Schema } from "./json-schema.ts";
import { findRequirements } from "./rules.ts";
import type { Schemas } from "./schema.ts";

/** An OpenAPI parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

/**
 * Returns the path for OpenAPI: `/v1/{name=shelves/*}:read` gives `/v1/{name}:read`. The parameter describes the allowed
 * values.
 */
export function formatPath(template: PathTemplate): string {
  const { segments, variables, verb } = template;
  const parts = segments.flatMap((segment, index) => {
    const variable = variables.find(({ start, end }) => index >= start && index < end);
    if (variable !== undefined) {
      return index === variable.start ? [`{${variableName(variable, template)}}`] : [];
    }
    return [segment.kind === "literal" ? segment.text : `{${wildcardName(index)}}`];
  });
  return `/${parts.join("/")}${verb === undefined ? "" : `:${verb}`}`;
}

/** Returns the parameters of a binding: path, query, cursor, headers. */
export function describeParameters(binding: Binding, schemas: Schemas): Parameter[] {
  return [
    ...describePathParameters(binding, schemas),
    ...describeQueryParameters(binding, schemas),
    ...describeCursor(binding, schemas),
    ...describeHeaders(binding, schemas),
  ];
}

/** Returns the top-level request fields that the path fills, so that a body need not contain them. */
export function fieldsOfPath({ pathFields }: Binding): ReadonlySet<DescField> {
  return new Set([...pathFields.values()].filter(({ parents }) => parents.length === 0).map(({ field }) => field));
}

/**
 * Returns the name of a path variable: `{agent.agent_id}` gives `agent_id`, so all methods of a resource share one path.
 * OpenAPI treats paths that differ only in names as equal, and forbids two of them. Variables with the same last part keep the
 * whole path.
 */
function variableName({ fieldPath }: TemplateVariable, { variables }: PathTemplate): string {
  const last = (path: string): string => path.slice(path.lastIndexOf(".") + 1);
  const twins = variables.filter((each) => last(each.fieldPath) === last(fieldPath));
  return twins.length > 1 ? fieldPath : last(fieldPath);
}

/** Returns a name for a wildcard outside of variables. It fills no field, but OpenAPI needs a name: `segment_2`. */
function wildcardName(index: number): string {
  return `segment_${index + 1}`;
}

function describePathParameters({ template, pathFields }: Binding, schemas: Schemas): Parameter[] {
  const { segments, variables } = template;
  return segments.flatMap((segment, index): Parameter[] => {
    const variable = variables.find(({ start, end }) => index >= start && index < end);
    if (variable === undefined) {
      const schema = { type: "string" };
      return segment.kind === "literal" ? [] : [{ name: wildcardName(index), in: "path", required: true, schema }];
    }
    const path = pathFields.get(variable.fieldPath);
    if (path === undefined || index > variable.start) {
      return [];
    }
    const pattern = segments.slice(variable.start, variable.end).map(formatSegment).join("/");
    const { schema, ...about } = describeField(path, schemas, pattern === "*" ? [] : [`Has the form \`${pattern}\`.`]);
    return [{ name: variableName(variable, template), in: "path", ...about, required: true, schema }];
  });
}

function formatSegment(segment: TemplateSegment): string {
  switch (segment.kind) {
    case "literal":
      return segment.text;
    case "single":
      return "*";
    case "rest":
      return "**";
    default:
      return segment satisfies never;
  }
}

function describeQueryParameters(binding: Binding, schemas: Schemas): Parameter[] {
  const { body, method, pathFields, textRequest } = binding;
  if (body.kind === "whole") {
    return textRequest === undefined ? [] : describeQueryBesideText(bindText(binding, textRequest), schemas);
  }
  const inPath = new Set([...pathFields.values()].map(formatFieldPath));
  const required = findRequirements(method.input).fields;
  const fields = fieldsOf(method.input).filter((field) => body.kind === "none" || field !== body.field);
  return [...textFields(fields, [])]
    .filter((path) => !inPath.has(formatFieldPath(path)))
    .map((path) => ({
      name: formatFieldPath(path),
      in: "query",
      ...(path.parents.length === 0 && required.has(path.field) ? { required: true } : {}),
      ...describeField(path, schemas),
    }));
}

/** Describes the query beside a plain-text body. No parameter is required: a JSON body contains these fields itself. */
function describeQueryBesideText(binding: Binding, schemas: Schemas): Parameter[] {
  return describeQueryParameters(binding, schemas).map(({ required: _, description = "", ...parameter }) => ({
    ...parameter,
    description: `${description} Only for a body of \`text/plain\`.`.trimStart(),
  }));
}

/** Yields every field that one text value can fill, also in nested messages, in field-number order. */
function* textFields(fields: readonly DescField[], parents: FieldPath["parents"]): Generator<FieldPath> {
  for (const field of fields) {
    if (isTextValue(field)) {
      yield { parents, field };
    } else if (field.fieldKind === "message" && !parents.some(({ message }) => message === field.message)) {
      yield* textFields(fieldsOf(field.message), [...parents, field]);
    }
  }
}

function fieldsOf(desc: DescMessage): DescField[] {
  return jsonShape(desc).fields.map(({ field }) => field);
}

/** Returns the aliases of a stream's cursor, and the header `Last-Event-ID`. */
function describeCursor({ cursor }: Binding, schemas: Schemas): Parameter[] {
  if (cursor === undefined) {
    return [];
  }
  const { field, aliases } = cursor;
  const { schema } = describeField({ parents: [], field }, schemas);
  return [
    ...aliases.map((name): Parameter => ({ name, in: "query", description: `Same as \`${field.name}\`.`, schema })),
    {
      name: "Last-Event-ID",
      in: "header",
      description: `What an EventSource sends when it reconnects; takes precedence over \`${field.name}\`.`,
      schema,
    },
  ];
}

/** Returns the headers that fill a field. */
function describeHeaders({ headerFields }: Binding, schemas: Schemas): Parameter[] {
  return [...headerFields.values()].map((field) => ({
    name: getOption(field, header),
    in: "header",
    description: `Same as \`${field.name}\`.`,
    schema: describeField({ parents: [], field }, schemas).schema,
  }));
}

/** The description stands beside the schema of a parameter, not in it. */
function describeField(
  { field }: FieldPath,
  schemas: Schemas,
  notes: readonly string[] = [],
): Pick<Parameter, "description" | "schema"> {
  const shape = jsonShape(field.parent).byName.get(field.name);
  const { description, ...schema } = shape === undefined ? {} : schemas.describeField(shape);
  const sentences = [...(typeof description === "string" ? [description] : []), ...notes];
  return { ...(sentences.length > 0 && { description: sentences.join(" ") }), schema };
}
