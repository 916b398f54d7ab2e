// The name of a client's own directory, which replaces `{client}` in sessions.work_dirs. Reads and makes nothing.

import { createHash } from "node:crypto";

/** File systems take names of 255 bytes. */
const escapedCharsMax = 200;

/**
 * Returns one name of a path. Two clients never have the same, also where the file system ignores case: capitals and unusual
 * characters are escaped. An id that is too long becomes its hash.
 *
 *     clientDirectory("key/alice")  // "key-alice"
 *     clientDirectory("shared/A/b") // "shared-%0041%002fb"
 */
export function clientDirectory(client: string): string {
  const slash = client.indexOf("/");
  const realm = client.slice(0, slash);
  const id = client.slice(slash + 1);
  // By UTF-16 units: half a surrogate pair has no UTF-8 of its own.
  const escaped = id.replace(/[^a-z0-9._@-]/g, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return escaped.length <= escapedCharsMax
    ? `${realm}-${escaped}`
    : `${realm}+${createHash("sha256").update(id, "utf16le").digest("hex")}`;
}
