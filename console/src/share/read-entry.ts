// Reads an entry from an event of the REST API. Its JSON is not quite that of Protobuf: texts that contain JSON are values there.

import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { jsonFields } from "../run/entry-json.ts";

/**
 * Example of an event: `{"run_id":"…","sequence":7,"tool_call_started":{"parameters":{"path":"a.txt"}}}`. Numbers beyond 2^53 within
 * such values are rounded.
 */
export function readEntry(data: string): RunResult {
  const json: JsonValue = JSON.parse(data);
  return fromJson(RunResultSchema, close(json), { ignoreUnknownFields: true });
}

function close(value: JsonValue): JsonValue {
  if (Array.isArray(value)) {
    return value.map(close);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closeField(key, each)]));
}

function closeField(key: string, value: JsonValue): JsonValue {
  if (jsonFields.has(key)) {
    return JSON.stringify(value);
  }
  // The only enum of an entry.
  return key === "scope" ? `SCOPE_${String(value).toUpperCase()}` : close(value);
}
