// Parses the response format that a runner asks for, as OpenAI's clients write it: `response_format` of Chat Completions.

import type { ResponseFormat } from "../../../agent/models/model.ts";
import { readAnswerSchema } from "../../../agent/response/response-format.ts";
import { invalidField } from "../../../platform/base/fault.ts";
import type { ObjectText } from "../../../platform/base/json/object-text.ts";

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
      throw invalidField(`${format?.path}.type`, `is ${JSON.stringify(type)}: use text, json_object or json_schema`);
  }
}

const namePattern = /^[A-Za-z0-9_-]{1,64}$/;

function readJsonSchema(described: ObjectText): ResponseFormat {
  const name = described.requireText("name");
  if (!namePattern.test(name)) {
    throw invalidField(`${described.path}.name`, "must be 1 to 64 letters, digits, underscores or dashes");
  }
  const description = described.findText("description");
  const given = described.requireObject("schema");
  const schema = readAnswerSchema(given.ownText, given.path);
  return {
    type: "json-schema",
    name,
    schema,
    strict: described.findFlag("strict") ?? false,
    ...(description !== undefined && { description }),
  };
}
