// Reads the type of a stored result from its tags alone, so that counting a long log by type decodes nothing.

import { BinaryReader } from "@bufbuild/protobuf/wire";
import { resultTypes, unknownType } from "../../platform/base/result-types.ts";

const nameOfField = new Map(resultTypes.map(({ fieldNumber, name }) => [fieldNumber, name]));

/** Returns the dotted type, such as `message.delta`; `unknown` for a payload of a later version and for invalid bytes. */
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
