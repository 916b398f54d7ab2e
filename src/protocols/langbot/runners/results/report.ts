// Checks one reported result before its payload is read: its run, its size, its type, and its JSON.

import type { ReportedResult } from "#gen/runnel/runner/v1/runner_worker_service_pb.js";
import { compactJson, JsonTextError, jsonDepthMax, parseJsonText } from "../../../../platform/base/json/text.ts";
import { isLabel, quote } from "./members.ts";
import type { JsonDocument } from "./read-payload.ts";
import { hashBody } from "./seen.ts";
import { stateUpdateDepthMax } from "./state.ts";

/** The maximum bytes of type, data and usage together. */
export const reportedBytesMax = 2_097_152;

/** A result whose payload is not read yet. */
export interface Report {
  readonly bytes: number;
  /** A hash of the whole result, which distinguishes a repetition from another result with the same number. */
  readonly body: string;
  /** The payload, or the problem. */
  readonly data: JsonDocument | { readonly problem: string };
}

/** Parses a reported result. An invalid one has a `problem` instead of data. */
export function readReport({ type, data, usage, runId: claimedRunId }: ReportedResult, runId: string): Report {
  const bytes = Buffer.byteLength(type) + Buffer.byteLength(data) + Buffer.byteLength(usage ?? "");
  const parsed = bytes > reportedBytesMax ? tooLarge(bytes) : parseData(type, data);
  const isForeign = claimedRunId !== "" && claimedRunId !== runId;
  // Invalid or too large data is compared as received.
  const text = "problem" in parsed ? data : compactJson(parsed.text, parsed.node);
  const body = hashBody([type, text, usage === undefined ? "" : `:${usage}`, isForeign ? claimedRunId : ""]);
  const problem = (isForeign ? foreignRun(claimedRunId) : undefined) ?? findTypeProblem(type);
  return { bytes, body, data: problem === undefined ? parsed : { problem } };
}

function parseData(type: string, data: string): Report["data"] {
  if (!data.isWellFormed()) {
    return { problem: "data contains half of a surrogate pair: write it as UTF-8" };
  }
  const text = data === "" ? "{}" : data;
  const depthMax = type === "state.updated" ? stateUpdateDepthMax : jsonDepthMax;
  try {
    return { text, node: parseJsonText(text, { depthMax }) };
  } catch (error) {
    if (error instanceof JsonTextError) {
      return { problem: `data is not JSON: ${error.message}` };
    }
    throw error;
  }
}

function tooLarge(bytes: number): Report["data"] {
  return { problem: `payload_too_large: the result has ${bytes} bytes: maximum ${reportedBytesMax}` };
}

function foreignRun(claimedRunId: string): string {
  return `run_id is ${quote(claimedRunId)}, which is not this run: report each result to its own run`;
}

function findTypeProblem(type: string): string | undefined {
  if (type === "") {
    return "type is missing: write the dotted type, such as message.delta";
  }
  return isLabel(type) ? undefined : `type is ${quote(type)}, which cannot be stored: write a short dotted type`;
}
