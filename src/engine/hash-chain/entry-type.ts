// The type of a stored result, read from its tags alone: to count a long log by type nothing of it has to be decoded.

import { BinaryReader } from "@bufbuild/protobuf/wire";
import { resultTypes, unknownType } from "../../platform/base/result-types.ts";

const nameOfField = new Map(resultTypes.map(({ fieldNumber, name }) => [fieldNumber, name]));

/** `unknown` for a payload of a later version, and for bytes that are no result. */
export function readEntryType(bytes: Uint8Array): string {
  let type = unknownType;
  try {
    const reader = new BinaryReader(bytes);
    while (reader.pos < reader.len) {
      const [fieldNumber, wireType] = reader.tag();
      // Of several payloads the last one counts.
      type = nameOfField.get(fieldNumber) ?? type;
      reader.skip(wireType, fieldNumber);
    }
    return type;
  } catch {
    return unknownType;
  }
}
