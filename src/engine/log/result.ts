// Results on their way into the log: what a driver yields, and the bytes that all readers get.

import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { resultTypes, terminalCases, unknownType } from "../../platform/base/result-types.ts";

/** A result without the fields that the log adds: run, sequence, time. */
export type ResultInit = Pick<MessageInitShape<typeof RunResultSchema>, "payload" | "usage" | "runnerSequence">;

/** The name of a payload in the contract, such as `messageDelta`; undefined for an unknown payload. */
export type PayloadCase = RunResult["payload"]["case"];

interface EntryPlace {
  readonly sequence: number;
  readonly terminal: boolean;
  /** Set when it is known without reading the bytes. */
  readonly payloadCase?: PayloadCase;
}

/** One entry of a log as it is stored and sent. All readers of this process share the entry and its decoded result. */
export class LogEntry {
  readonly sequence: number;
  readonly bytes: Uint8Array;
  readonly terminal: boolean;
  readonly #payloadCase: PayloadCase;
  #result: RunResult | undefined;

  constructor({ sequence, terminal, payloadCase }: EntryPlace, bytes: Uint8Array) {
    this.sequence = sequence;
    this.terminal = terminal;
    this.bytes = bytes;
    this.#payloadCase = payloadCase;
  }

  get payloadCase(): PayloadCase {
    return this.#payloadCase ?? this.result.payload.case;
  }

  /** The decoded bytes. Decoded once; do not change it. */
  get result(): RunResult {
    this.#result ??= decodeResult(this.bytes);
    return this.#result;
  }
}

const typeOfCase = new Map(resultTypes.map((type) => [type.payloadCase, type]));

/** Returns the dotted name of a payload's type, such as `message.delta`; `unknown` for a payload of a later version. */
export function resultTypeOf(payloadCase: PayloadCase): string {
  return (payloadCase !== undefined && typeOfCase.get(payloadCase)?.name) || unknownType;
}

/** Returns whether a payload ends its run. */
export function isTerminal(payload: ResultInit["payload"] | RunResult["payload"]): boolean {
  return terminalCases.has(payload?.case ?? "");
}

/** Encodes a result once; all readers get these bytes. */
export function encodeResult(init: ResultInit, place: { runId: string; sequence: number; timeMs: number }): LogEntry {
  const message = create(RunResultSchema, {
    ...init,
    runId: place.runId,
    sequence: BigInt(place.sequence),
    createTime: timestampFromMs(place.timeMs),
  });
  const terminal = isTerminal(message.payload);
  const payloadCase = message.payload.case;
  return new LogEntry({ sequence: place.sequence, terminal, payloadCase }, toBinary(RunResultSchema, message));
}

/** Decodes stored bytes. */
export function decodeResult(bytes: Uint8Array): RunResult {
  return fromBinary(RunResultSchema, bytes);
}

/** Returns a page of stored results as entries. Only the last one can be terminal, so only that one is decoded. */
export function storedEntries(rows: readonly { sequence: number; payload: Uint8Array }[]): LogEntry[] {
  return rows.map(({ sequence, payload }, index) => {
    const terminal = index === rows.length - 1 && isTerminal(decodeResult(payload).payload);
    return new LogEntry({ sequence, terminal }, payload);
  });
}
