// Reads messages of the contract from files, in the JSON of REST or the same as YAML. Numbers and texts of free JSON stay as
// they are written in JSON; YAML has its own ways to write them.

import { create, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { parseAllDocuments } from "yaml";
import { Fault } from "../../platform/base/fault.ts";
import { readMessageJson } from "../../platform/base/json/read.ts";
import { compactJson, JsonTextError, parseJsonText } from "../../platform/base/json/text.ts";
import { CommandError } from "../command-error.ts";
import { nameOf, readInput } from "../input.ts";

/** The maximum size of a message, as the service limits it. */
const fileBytesMax = 4_194_304;

/** Reads at least one: a message, a JSON array of them, or YAML documents. Throws a `CommandError` that names file and field. */
export async function readMessages<Desc extends DescMessage>(
  schema: Desc,
  path: string,
): Promise<MessageShape<Desc>[]> {
  const text = (await readInput(path, fileBytesMax)).toString();
  try {
    const messages = textsIn(text).map((json) => {
      const message = create(schema);
      readMessageJson(reflect(schema, message), json, { lenient: false });
      return message;
    });
    if (messages.length === 0) {
      throw new JsonTextError("nothing is in it");
    }
    return messages;
  } catch (error) {
    if (error instanceof Fault || error instanceof JsonTextError) {
      const why = error.message.replace(/^invalid request body: /, "");
      throw new CommandError(`${nameOf(path)}: ${why}`, { reason: "INVALID_FILE", cause: error });
    }
    throw error;
  }
}

/** Reads exactly one message. Throws a `CommandError`. */
export async function readOneMessage<Desc extends DescMessage>(
  schema: Desc,
  path: string,
): Promise<MessageShape<Desc>> {
  const [message = create(schema), ...others] = await readMessages(schema, path);
  if (others.length > 0) {
    throw new CommandError(`${nameOf(path)}: expected one object`, { reason: "INVALID_FILE" });
  }
  return message;
}

/** Returns the JSON text of each message. Throws a `JsonTextError`. */
function textsIn(text: string): string[] {
  const documents = /^\s*[[{]/.test(text) ? [text] : yamlDocuments(text);
  return documents.flatMap((json) => {
    const node = parseJsonText(json);
    return node.kind === "array" ? node.items.map((item) => compactJson(json, item)) : [json];
  });
}

function yamlDocuments(text: string): string[] {
  return Array.from(parseAllDocuments(text, { intAsBigInt: true }), (document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      throw new JsonTextError(error.message);
    }
    return JSON.stringify(document.toJS({ maxAliasCount: 100 }), (_, value) => plainNumber(value));
  });
}

function plainNumber(value: unknown): unknown {
  if (typeof value !== "bigint") {
    return value;
  }
  if (!Number.isSafeInteger(Number(value))) {
    throw new JsonTextError(`${value} is too large a number for YAML: write the file as JSON`);
  }
  return Number(value);
}
