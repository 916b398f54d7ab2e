// The fields of an agent, as files and the flag `--set` give them.

import { fromJson, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { InvalidArgumentError } from "commander";
import { AgentSchema } from "#gen/runnel/v1/session_pb.js";
import { isObject } from "../platform/base/json/parse-object.ts";
import { suggest } from "../platform/base/nearest.ts";

const fieldNames = AgentSchema.fields.map(({ name }) => name);

/** Returns why no agent has the field with this value; undefined when one can. `others` are further names that the caller knows. */
export function findFieldProblem(field: string, value: JsonValue, others: readonly string[] = []): string | undefined {
  if (!fieldNames.includes(field)) {
    return `unknown field${suggest(field, [...fieldNames, ...others]) || `: an agent has ${fieldNames.join(", ")}`}`;
  }
  try {
    fromJson(AgentSchema, { [field]: value });
    return undefined;
  } catch (error) {
    // `cannot decode field runnel.v1.Agent.model from JSON: expected string, got 1`
    return (error instanceof Error ? error.message : String(error)).replace(/^cannot decode [^:]* from JSON: /, "");
  }
}

/**
 * Adds a setting such as `temperature=0.2` or `tools.builtin=["grep"]` to the fields of an agent. A value that is no JSON is a text.
 * Throws an `InvalidArgumentError`.
 */
export function readAgentField(text: string, before: JsonObject = {}): JsonObject {
  const [, path = "", words = ""] = /^([\w.]+)=(.*)$/s.exec(text) ?? [];
  if (path === "") {
    throw new InvalidArgumentError("expected a field and its value, such as temperature=0.2");
  }
  const agent = withValue(before, path.split("."), readValue(words));
  const [field = ""] = path.split(".");
  const problem = findFieldProblem(field, agent[field] ?? null);
  if (problem !== undefined) {
    throw new InvalidArgumentError(`${path}: ${problem}`);
  }
  return agent;
}

function withValue(object: JsonObject, [name = "", ...rest]: readonly string[], value: JsonValue): JsonObject {
  const inner = object[name];
  return {
    ...object,
    [name]: rest.length === 0 ? value : withValue(isObject(inner) ? (inner as JsonObject) : {}, rest, value),
  };
}

function readValue(words: string): JsonValue {
  try {
    return JSON.parse(words) as JsonValue;
  } catch {
    return words;
  }
}
