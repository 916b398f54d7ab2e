// Bodies of plain text: what counts as one, and its text.

import { MIMEType } from "node:util";
import { Fault, invalidField } from "../../platform/base/fault.ts";
import { decodeUtf8 } from "../../platform/base/utf8.ts";

/** Throws MEDIA_TYPE_UNSUPPORTED for plain text in a charset that is not UTF-8, which is the one where none is named. */
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

/** The text without a byte order mark. Throws INVALID_ARGUMENT that names the field and the first byte that is not UTF-8. */
export function decodeText(fieldName: string, bytes: Uint8Array): string {
  const decoded = decodeUtf8(bytes);
  if ("invalidAt" in decoded) {
    throw invalidField(fieldName, `the byte at offset ${decoded.invalidAt} is not UTF-8: send the text as UTF-8`);
  }
  return decoded.text;
}

/** A charset comes from the caller: enough of it is shown to be recognised. */
const shownCharsMax = 40;

function parseType(contentType: string): MIMEType | undefined {
  try {
    return new MIMEType(contentType);
  } catch {
    return undefined;
  }
}
