// Logs of runs that a script plays, and what a reader has to show of them.

import { randomUUID } from "node:crypto";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type RunResult, RunResultSchema } from "#gen/runnel/v1/result_pb.js";
import { resultTypes } from "../../../src/platform/base/result-types.ts";

type Payload = NonNullable<MessageInitShape<typeof RunResultSchema>["payload"]>;

/** The log of a run, with what a reader shows at its end. */
export interface Log {
  readonly runId: string;
  readonly results: readonly RunResult[];
  readonly end: { readonly state: string; readonly text: string; readonly output: string };
}

/** A log entry: a payload, or the number of a field that no version of the contract has. */
export type Entry = Payload | { readonly unknownField: number };

/** Makes a log of a new run. */
export function makeLog(entries: readonly Entry[], end: Partial<Log["end"]> & { readonly text: string }): Log {
  const runId = randomUUID();
  const results = entries.map((entry, index) => {
    const place = { runId, sequence: BigInt(index + 1), createTime: { seconds: 1_767_225_600n + BigInt(index) } };
    return "unknownField" in entry
      ? unknownResult(create(RunResultSchema, place), entry.unknownField)
      : create(RunResultSchema, { ...place, payload: entry });
  });
  return { runId, results, end: { state: "completed", output: end.text, ...end } };
}

/** The payload is a field that this contract does not have. */
function unknownResult(result: RunResult, fieldNumber: number): RunResult {
  const writer = new BinaryWriter().raw(toBinary(RunResultSchema, result));
  const payload = new BinaryWriter().tag(1, WireType.LengthDelimited).string("of a newer version").finish();
  return fromBinary(RunResultSchema, writer.tag(fieldNumber, WireType.LengthDelimited).bytes(payload).finish());
}

/** The dotted name of a result's type; `unknown` for a type that the contract does not have. */
export function typeOf({ payload }: RunResult): string {
  return resultTypes.find(({ payloadCase }) => payloadCase === payload.case)?.name ?? "unknown";
}

export function turnStarted(turn: number): Payload {
  return { case: "turnStarted", value: { turn } };
}

export function delta(content: string, replacesText = false): Payload {
  return { case: "messageDelta", value: { chunk: { role: "assistant", content, replacesText } } };
}

export function message(text: string): Payload {
  return {
    case: "messageCompleted",
    value: { message: { role: "assistant", content: { case: "text", value: text } } },
  };
}

export function restarted(turn: number, fromSequence: number): Payload {
  return { case: "turnRestarted", value: { turn, fromSequence: BigInt(fromSequence) } };
}

/** The end of a run whose output is the text of its last message. */
export function completed(text: string): Payload {
  const value = { case: "text", value: text } as const;
  return {
    case: "runCompleted",
    value: { finishReason: "stop", message: { role: "assistant", content: value }, turns: 1, durationMs: 1_200n },
  };
}

export function failed(code: string, output: string): Payload {
  return {
    case: "runFailed",
    value: { code, error: `the run ended with ${code}`, output, turns: 1, durationMs: 900n },
  };
}

/** A usual log of nine results. */
export function usualLog(): Log {
  const words = ["The ", "answer ", "is ", "forty", "-two", "."];
  const text = words.join("");
  return makeLog([turnStarted(1), ...words.map((word) => delta(word)), message(text), completed(text)], { text });
}
