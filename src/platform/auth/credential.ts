// The form of the credentials that the service makes: `rk_<secret>`, or `rk_<cell>.<secret>` in a cell. The secret has no dot, so a
// router finds the cell before the first dot.

import { randomBytes } from "node:crypto";

const secretBytes = 32;

/** Returns a new credential. `cell` is empty outside cells. */
export function makeCredential(prefix: string, cell: string): string {
  const place = cell === "" ? "" : `${cell}.`;
  return `${prefix}${place}${randomBytes(secretBytes).toString("base64url")}`;
}
