// Parses the response format that a runner asks for, as OpenAI's clients write it: `response_format` of Chat Completions.

import { Ajv2020 } from "ajv/dist/2020.js";
import type { ResponseFormat } from "../../../agent/models/model.ts";
import { invalidField } from "../../../platform/base/fault.ts";
import type { ObjectText } from "../../../platform/base/json/object-text.ts";

/** The maximum bytes of a schema: more than any provider accepts. */
const formatSchemaBytesMax = 65_536;

/** Returns undefined when the answer is to be text. Throws Fault INVALID_ARGUMENT, which names the field. */
export function readResponseFormat(args: ObjectText): ResponseFormat | undefined {
  const format = args.findObject("response_format");
  const type = format?.requireText("type");
  switch (type) {
    case undefined:
    case "text":
      return undefined;
    case "json_object":
      return { type: "json-object" };
    case "json_schema":
      return format && readJsonSchema(format.requireObject("json_schema"));
    default:
      throw invalidField(`${format?.field}.type`, `is ${JSON.stringify(type)}: use text, json_object or json_schema`);
  }
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

function readJsonSchema(described: ObjectText): ResponseFormat {
  const name = described.requireText("name");
  if (!namePattern.test(name)) {
    throw invalidField(`${described.field}.name`, "must be 1 to 64 letters, digits, underscores or dashes");
  }
  const description = described.findText("description");
  const schema = readSchema(described.requireObject("schema"));
  return {
    type: "json-schema",
    name,
    schema,
    strict: described.findBoolean("strict") ?? false,
    ...(description !== undefined && { description }),
  };
}

function readSchema(given: ObjectText): object {
  const sizeBytes = Buffer.byteLength(given.ownText);
  if (sizeBytes > formatSchemaBytesMax) {
    throw invalidField(given.field, `has ${sizeBytes} bytes: give at most ${formatSchemaBytesMax}`);
  }
  const schema: object = JSON.parse(given.ownText);
  // The code that rewrites a schema for a provider relies on the types of its keywords.
  if (!validator.validate("https://json-schema.org/draft/2020-12/schema", schema)) {
    const problem = validator.errorsText(validator.errors, { dataVar: "schema" }).slice(0, problemCharsMax);
    throw invalidField(given.field, `is not a valid JSON Schema: ${problem}`);
  }
  return schema;
}

const problemCharsMax = 500;

const validator = new Ajv2020({ strict: false, logger: false, validateFormats: false });
