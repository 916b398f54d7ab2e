// A line of an exported log: JSON with the stored bytes, which count, and the same decoded, for people.

import { fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { resultTypes } from "../../platform/base/result-types.ts";
import { describeRunEnd, type RunEndFields } from "../../platform/base/run-end.ts";
import type { ChainEntry } from "./chain.ts";

export interface LogLine extends ChainEntry {
  /** What the line says for people; undefined when it says nothing. */
  readonly entry: unknown;
}

export function printLogLine({ sequence, bytes }: ChainEntry): string {
  const entry = decodeEntry(bytes);
  return JSON.stringify({
    sequence,
    bytes: Buffer.from(bytes).toString("base64"),
    ...(entry !== undefined && { entry }),
  });
}

/** Undefined for what is no such line. */
export function readLogLine(text: string): LogLine | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null) {
    return undefined;
  }
  const { sequence, bytes, entry } = parsed as Readonly<Record<string, unknown>>;
  if (!Number.isSafeInteger(sequence) || typeof bytes !== "string") {
    return undefined;
  }
  const decoded = Buffer.from(bytes, "base64");
  // Lenient readers skip what is no base64, so that a change would pass.
  return decoded.toString("base64") === bytes ? { sequence: sequence as number, bytes: decoded, entry } : undefined;
}

/** ProtoJSON of stored bytes; undefined for bytes that are no result. */
export function decodeEntry(bytes: Uint8Array): JsonValue | undefined {
  try {
    return toJson(RunResultSchema, fromBinary(RunResultSchema, bytes));
  } catch {
    return undefined;
  }
}

/** What the bytes say of their place themselves; undefined for bytes that are no result. */
export function readPlace(bytes: Uint8Array): { readonly runId: string; readonly sequence: number } | undefined {
  try {
    const { runId, sequence } = fromBinary(RunResultSchema, bytes);
    return { runId, sequence: Number(sequence) };
  } catch {
    return undefined;
  }
}

const terminalCases = new Set(resultTypes.filter(({ isTerminal }) => isTerminal).map(({ payloadCase }) => payloadCase));

/** How the run ended by a terminal result; undefined for bytes that are none. */
export function readEnd(bytes: Uint8Array): RunEndFields | undefined {
  try {
    const result = fromBinary(RunResultSchema, bytes);
    return terminalCases.has(result.payload.case ?? "") ? describeRunEnd(result) : undefined;
  } catch {
    return undefined;
  }
}
