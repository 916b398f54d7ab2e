// Makes a message of the beginning of its bytes: the fields that are whole, and as much as there is of the text that is cut.

import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Returns bytes that decode as the message. Those of a whole message stay as they are. */
export function closeMessage(schema: DescMessage, bytes: Uint8Array): Uint8Array {
  const reader = new BinaryReader(bytes);
  let end = 0;
  try {
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (type === WireType.LengthDelimited) {
        const length = reader.uint32();
        if (reader.pos + length > reader.len) {
          const value = closeField(schema, number, bytes.subarray(reader.pos));
          const whole = new BinaryWriter().raw(bytes.subarray(0, end));
          return value === undefined ? whole.finish() : whole.tag(number, type).bytes(value).finish();
        }
        reader.pos += length;
      } else {
        reader.skip(type);
      }
      end = reader.pos;
    }
  } catch {
    // The bytes end within a tag or a number.
    return bytes.subarray(0, end);
  }
  return bytes;
}

/** Returns the value of a field of which these bytes are the beginning; undefined when a part of it says nothing. */
function closeField(schema: DescMessage, number: number, bytes: Uint8Array): Uint8Array | undefined {
  const field = schema.fields.find((each) => each.number === number);
  if (field?.message !== undefined && field.fieldKind !== "map") {
    return closeMessage(field.message, bytes);
  }
  // A decoder for a stream waits for the rest of a character.
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING
    ? new TextEncoder().encode(new TextDecoder().decode(bytes, { stream: true }))
    : undefined;
}
