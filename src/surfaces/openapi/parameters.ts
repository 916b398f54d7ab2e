// Where a URL of OpenAPI differs from a rule of google.api.http: the path as a template of plain names, and what path,
// query and headers say as parameters.

import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { header } from "#gen/runnel/options/v1/options_pb.js";
import { type FieldPath, formatFieldPath } from "../../platform/base/json/field-path.ts";
import { jsonShape } from "../../platform/base/json/shape.ts";
import { isTextValue } from "../../platform/base/json/value-text.ts";
import { type Binding, bindText } from "../rest/rule.ts";
import type { PathTemplate, TemplateSegment, TemplateVariable } from "../rest/template.ts";
import { findRequirements } from "./rules.ts";
import type { Schema, Schemas } from "./schema.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

/** `/v1/{name=shelves/*}:read` is `/v1/{name}:read` here: what a name may hold is told by its parameter. */
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

export function describeParameters(binding: Binding, schemas: Schemas): Parameter[] {
  return [
    ...describePathParameters(binding, schemas),
    ...describeQueryParameters(binding, schemas),
    ...describeCursor(binding, schemas),
    ...describeHeaders(binding, schemas),
  ];
}

/** The fields of the request that the path fills by themselves, so that a body does not have to. */
export function fieldsOfPath({ pathFields }: Binding): ReadonlySet<DescField> {
  return new Set([...pathFields.values()].filter(({ parents }) => parents.length === 0).map(({ field }) => field));
}

/**
 * `agent_id` of `{agent.agent_id}`: all methods of a resource have one path then. OpenAPI takes paths that differ in names alone for
 * the same one, and refuses two of them.
 */
function variableName({ fieldPath }: TemplateVariable, { variables }: PathTemplate): string {
  const last = (path: string): string => path.slice(path.lastIndexOf(".") + 1);
  const twins = variables.filter((each) => last(each.fieldPath) === last(fieldPath));
  return twins.length > 1 ? fieldPath : last(fieldPath);
}

/** A wildcard outside of any variable fills no field, but OpenAPI has to call it something. */
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

/** A body of JSON says these fields itself, so that none is ever required here. */
function describeQueryBesideText(binding: Binding, schemas: Schemas): Parameter[] {
  return describeQueryParameters(binding, schemas).map(({ required: _, description = "", ...parameter }) => ({
    ...parameter,
    description: `${description} For a body of \`text/plain\` alone.`.trimStart(),
  }));
}

/** Every field that one text can say, also inside of the fields, in the order of their numbers. */
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

/** Further names of a stream's cursor. */
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
      description: `What an EventSource sends when it reconnects; beats \`${field.name}\`.`,
      schema,
    },
  ];
}

/** Fields that a header may fill. */
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
