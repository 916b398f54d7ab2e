// Reads the form of answers that a session or a caller asks for. Its schema is user input.

import { Ajv2020 } from "ajv/dist/2020.js";
import type { Agent } from "#gen/runnel/v1/session_pb.js";
import { invalidField } from "../../platform/base/fault.ts";
import { parseExact } from "../../platform/base/json/exact.ts";
import { parseBoundedObject } from "../../platform/base/json/parse-object.ts";
import type { ResponseFormat } from "../models/model.ts";
import { problemCharsMax } from "../tools/schema.ts";

/** The maximum bytes of a schema: more than any provider accepts. */
const schemaBytesMax = 65_536;

/**
 * Returns the format of an agent's answers; undefined for text.
 * @throws Fault INVALID_ARGUMENT when its schema is invalid.
 */
export function responseFormatOf({ responseFormat }: Agent): ResponseFormat | undefined {
  if (responseFormat === undefined) {
    return undefined;
  }
  const { name, description, schema, strict } = responseFormat;
  if (schema === "") {
    return { type: "json-object" };
  }
  return {
    type: "json-schema",
    name: name || "answer",
    schema: readAnswerSchema(schema, "agent.response_format.schema"),
    strict,
    ...(description !== "" && { description }),
  };
}

/** Returns the JSON Schema of answers. Throws Fault INVALID_ARGUMENT, which names the field. */
export function readAnswerSchema(text: string, field: string): object {
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > schemaBytesMax) {
    throw invalidField(field, `has ${sizeBytes} bytes: give at most ${schemaBytesMax}`);
  }
  const schema = parseBoundedObject(text);
  if (schema === undefined) {
    throw invalidField(field, "must be a JSON object of at most 100 levels");
  }
  // The code that rewrites a schema for a provider relies on the types of its keywords.
  if (!validator.validate("https://json-schema.org/draft/2020-12/schema", schema)) {
    const problem = validator.errorsText(validator.errors, { dataVar: "schema" }).slice(0, problemCharsMax);
    throw invalidField(field, `is not a valid JSON Schema: ${problem}`);
  }
  return parseExact(text) as object;
}

const validator = new Ajv2020({ strict: false, logger: false, validateFormats: false });
