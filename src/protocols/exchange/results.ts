// Encodes results of commands to the bytes that are stored, and decodes them.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CommandResultSchema, type CommandResult as ShownResult } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { SubmitInboxResponseSchema } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import type { CommandResult, CommandType } from "./command.ts";

/** Encodes one result. */
export function encodeResult(result: CommandResult): Uint8Array {
  return toBinary(CommandResultSchema, create(CommandResultSchema, result));
}

/** Decodes one result. */
export function decodeResult(bytes: Uint8Array): CommandResult {
  return readResult(fromBinary(CommandResultSchema, bytes));
}

/** Encodes several results as one message. */
export function encodeResults(results: readonly CommandResult[]): Uint8Array {
  return toBinary(SubmitInboxResponseSchema, create(SubmitInboxResponseSchema, { results: [...results] }));
}

/** Decodes several results. */
export function decodeResults(bytes: Uint8Array): CommandResult[] {
  return fromBinary(SubmitInboxResponseSchema, bytes).results.map(readResult);
}

/** Reads a result. This service wrote it, so its type is always known. */
function readResult({ type, success, summary, output }: ShownResult): CommandResult {
  return { type: type as CommandType, success, summary, output };
}
