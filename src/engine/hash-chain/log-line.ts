// A line of an exported log: JSON with the stored bytes, which count, and the decoded entry, which is for people.

import { fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { parseJson } from "../../platform/base/json/parse-object.ts";
import { terminalCases } from "../../platform/base/result-types.ts";
import { describeRunEnd, type RunEndFields } from "../../platform/base/run-end.ts";
import type { ChainEntry } from "./chain.ts";

/** A line of an exported log. */
export interface LogLine extends ChainEntry {
  /** The decoded entry that the line shows to people; undefined when it has none. */
  readonly entry: unknown;
}

/** Returns a line such as `{"sequence":1,"bytes":"CgNhYmM=","entry":{…}}`, without the newline. */
export function printLogLine({ sequence, bytes }: ChainEntry): string {
  const entry = decodeEntry(bytes);
  return JSON.stringify({
    sequence,
    bytes: Buffer.from(bytes).toString("base64"),
    ...(entry !== undefined && { entry }),
  });
}

/** Returns undefined when the text is not a valid line. */
export function readLogLine(text: string): LogLine | undefined {
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null) {
    return undefined;
  }
  const { sequence, bytes, entry } = parsed as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(sequence) || typeof bytes !== "string") {
    return undefined;
  }
  const decoded = Buffer.from(bytes, "base64");
  // Node skips invalid base64 characters, so a changed line would pass without this comparison.
  return decoded.toString("base64") === bytes ? { sequence: sequence as number, bytes: decoded, entry } : undefined;
}

/** Returns stored bytes as ProtoJSON; undefined for invalid bytes. */
export function decodeEntry(bytes: Uint8Array): JsonValue | undefined {
  try {
    return toJson(RunResultSchema, fromBinary(RunResultSchema, bytes));
  } catch {
    return undefined;
  }
}

/** Returns the run and the sequence that the bytes name; undefined for invalid bytes. */
export function readPlace(bytes: Uint8Array): { readonly runId: string; readonly sequence: number } | undefined {
  try {
    const { runId, sequence } = fromBinary(RunResultSchema, bytes);
    return { runId, sequence: Number(sequence) };
  } catch {
    return undefined;
  }
}

/** Returns how a terminal result ended its run; undefined for other results and for invalid bytes. */
export function readEnd(bytes: Uint8Array): RunEndFields | undefined {
  try {
    const result = fromBinary(RunResultSchema, bytes);
    return terminalCases.has(result.payload.case ?? "") ? describeRunEnd(result) : undefined;
  } catch {
    return undefined;
  }
}
