// The JSON of an answer.

import { type DescMessage, type JsonValue, type MessageShape, toJson } from "@bufbuild/protobuf";

/** Returns the contract's JSON of an answer, including 0 and empty values: a reader need not know what unset means. */
export function answerJson<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): JsonValue {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}
