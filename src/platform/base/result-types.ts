// The name of each result payload and whether it ends a run, read from the options of the contract.

import { getOption } from "@bufbuild/protobuf";
import { result as resultOption } from "#gen/runnel/options/v1/options_pb.js";
import { RunResultSchema } from "#gen/runnel/v1/result_pb.js";

/** One payload type of a result. */
export interface ResultType {
  /** The name of the field in code, such as `messageDelta`. */
  readonly payloadCase: string;
  readonly fieldNumber: number;
  /** The dotted name, such as `message.delta`. */
  readonly name: string;
  readonly isTerminal: boolean;
}

/** The name of a payload that this version does not know. */
export const unknownType = "unknown";

/** All payload types of the contract. */
export const resultTypes: readonly ResultType[] = RunResultSchema.fields
  .filter((field) => field.oneof?.name === "payload")
  .map((field) => {
    const { name, terminal } = getOption(field, resultOption);
    return { payloadCase: field.localName, fieldNumber: field.number, name: name || unknownType, isTerminal: terminal };
  });

/** The payloads that end a run, by their names in code. */
export const terminalCases: ReadonlySet<string> = new Set(
  resultTypes.filter(({ isTerminal }) => isTerminal).map(({ payloadCase }) => payloadCase),
);
