// Bodies of plain text: their media type and their text.

import { MIMEType } from "node:util";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import { decodeUtf8 } from "../../platform/base/utf8.ts";

/**
 * Whether a content type is plain text. A missing charset means UTF-8. Throws Fault MEDIA_TYPE_UNSUPPORTED for text in another
 * charset.
 */
export function isPlainText(contentType: string): boolean {
  const type = parseType(contentType);
  if (type?.essence !== "text/plain") {
    return false;
  }
  const charset = type.params.get("charset")?.trim() ?? "utf-8";
  if (!/^utf-?8$/i.test(charset)) {
    const shown = JSON.stringify(charset.slice(0, shownCharsMax));
    throw new Fault("MEDIA_TYPE_UNSUPPORTED", `the charset of text/plain must be utf-8, not ${shown}`);
  }
  return true;
}

/**
 * Returns the text without a byte order mark. Throws Fault INVALID_ARGUMENT with the field and the offset of the first invalid
 * byte.
 */
export function decodeText(fieldName: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("invalidAt" in decoded) {
    throw invalidField(fieldName, `the byte at offset ${decoded.invalidAt} is not UTF-8: send the text as UTF-8`);
  }
  return decoded.text;
}

/** The maximum characters of a charset in an error message: the charset comes from the caller and has no limit. */
const shownCharsMax = 40;

function parseType(contentType: string): MIMEType | undefined {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}
