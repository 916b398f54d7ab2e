// One entry as JSON, close to what the REST API answers.

import { toJson } from "@bufbuild/protobuf";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";

/** Fields whose text is JSON: the contract keeps it as it was written. */
export const jsonFields: ReadonlySet<string> = new Set([
  "json",
  "metadata",
  "parameters",
  "payload",
  "provider_specific_fields",
  "result",
  "source",
  "target",
  "value",
]);

/** Returns an entry as JSON, with texts that contain JSON in their place. */
export function entryJson(entry: RunResult): Readonly<Record<string, unknown>> {
  const json = toJson(RunResultSchema, entry, { useProtoFieldName: true });
  return open(json) as Readonly<Record<string, unknown>>;
}

function open(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(open);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, typeof each === "string" ? openText(key, each) : open(each)]),
  );
}

function openText(key: string, text: string): unknown {
  if (key === "sequence" || key === "runner_sequence") {
    return Number(text);
  }
  if (!jsonFields.has(key)) {
    return text;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
