// The first words of an encoded message, for lists of runs. Reads no further than the first text, which is quick beside images.

import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { oneLine } from "../../platform/base/one-line.ts";

const wordsCharsMax = 200;
/** More bytes than the first characters of a text take. */
const textBytesMax = 1_024;

/** The numbers of the fields: `Message.text`, `Message.parts`, `ContentParts.elements` and `ContentElement.text`. */
const fields = { text: 3, parts: 4, elements: 1, elementText: 2 } as const;

/** Returns up to 200 characters of the first text of a message, in one line; empty without a text. */
export function firstWords(message: Uint8Array): string {
  const [text = partTextsOf(message).find((each) => each.length > 0)] = valuesOf(message, fields.text);
  return text === undefined ? "" : oneLine(Buffer.from(text.subarray(0, textBytesMax)).toString(), wordsCharsMax);
}

function partTextsOf(message: Uint8Array): Uint8Array[] {
  return valuesOf(message, fields.parts)
    .flatMap((parts) => valuesOf(parts, fields.elements))
    .flatMap((element) => valuesOf(element, fields.elementText));
}

/** Returns the values of a field of texts, bytes or messages, without copies. */
function valuesOf(message: Uint8Array, field: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const values: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === field && type === WireType.LengthDelimited) {
      values.push(reader.bytes());
    } else {
      reader.skip(type);
    }
  }
  return values;
}
