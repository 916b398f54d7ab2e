// What commands did, between the room's own words and the bytes in which it is kept.

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { CommandResultSchema, type CommandResult as ShownResult } from "#gen/runnel/exchange/v1/exchange_pb.js";
import { SubmitInboxResponseSchema } from "#gen/runnel/exchange/v1/exchange_service_pb.js";
import type { CommandResult, CommandType } from "./command.ts";

export function encodeResult(result: CommandResult): Uint8Array {
  return toBinary(CommandResultSchema, create(CommandResultSchema, result));
}

export function decodeResult(bytes: Uint8Array): CommandResult {
  return readResult(fromBinary(CommandResultSchema, bytes));
}

/** Several as one. */
export function encodeResults(results: readonly CommandResult[]): Uint8Array {
  return toBinary(SubmitInboxResponseSchema, create(SubmitInboxResponseSchema, { results: [...results] }));
}

export function decodeResults(bytes: Uint8Array): CommandResult[] {
  return fromBinary(SubmitInboxResponseSchema, bytes).results.map(readResult);
}

/** Written by this service, so the type is one of its own. */
function readResult({ type, success, summary, output }: ShownResult): CommandResult {
  return { type: type as CommandType, success, summary, output };
}
