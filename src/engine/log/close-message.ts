// Makes a message of the beginning of its bytes: the fields that are whole, and as much as there is of the text that is cut.

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** Bytes that decode as a message. */
export interface ClosedMessage {
  readonly bytes: Uint8Array;
  /** The innermost field in which its bytes ended; undefined for a whole message. */
  readonly cutField?: DescField | undefined;
}

/** Returns bytes that decode as the message. Those of a whole message stay as they are. */
export function closeMessage(schema: DescMessage, bytes: Uint8Array): ClosedMessage {
  const reader = new BinaryReader(bytes);
  let end = 0;
  try {
    while (reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (type === WireType.LengthDelimited) {
        const length = reader.uint32();
        if (reader.pos + length > reader.len) {
          const { value, cutField } = closeField(schema, number, bytes.subarray(reader.pos));
          const writer = new BinaryWriter().raw(bytes.subarray(0, end));
          return { bytes: (value === undefined ? writer : writer.tag(number, type).bytes(value)).finish(), cutField };
        }
        reader.pos += length;
      } else {
        reader.skip(type);
      }
      end = reader.pos;
    }
  } catch {
    // The bytes end within a tag or a number.
    return { bytes: bytes.subarray(0, end) };
  }
  return { bytes };
}

interface ClosedField {
  /** Undefined when a part of the value says nothing. */
  readonly value?: Uint8Array;
  readonly cutField: DescField | undefined;
}

/** Closes a field of which these bytes are the beginning. */
function closeField(schema: DescMessage, number: number, bytes: Uint8Array): ClosedField {
  const field = schema.fields.find((each) => each.number === number);
  if (field?.message !== undefined && field.fieldKind !== "map") {
    const closed = closeMessage(field.message, bytes);
    return { value: closed.bytes, cutField: closed.cutField ?? field };
  }
  // A decoder for a stream waits for the rest of a character.
  return field?.fieldKind === "scalar" && field.scalar === ScalarType.STRING
    ? { value: new TextEncoder().encode(new TextDecoder().decode(bytes, { stream: true })), cutField: field }
    : { cutField: field };
}
