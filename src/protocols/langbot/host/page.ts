// The size and the position of pages, shared by all pages of the host API.

import type { Cursors } from "../../../platform/auth/cursor.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";

const pageItemsDefault = 50;
/** The maximum items of a page or a list of keys. */
export const pageItemsMax = 100;

/** Returns the number of items: the default for 0, at most the maximum. Throws Fault INVALID_ARGUMENT for a negative number. */
export function countOf(
  field: string,
  asked: number,
  { usual = pageItemsDefault, max = pageItemsMax }: { usual?: number; max?: number } = {},
): number {
  if (asked < 0) {
    throw invalidField(field, "is negative: leave it out, or give a number above 0");
  }
  return Math.min(asked === 0 ? usual : asked, max);
}

/** Returns the number in a cursor, or undefined without a cursor. Throws Fault CURSOR_INVALID for a foreign or changed one. */
export function openCursor(
  cursors: Cursors,
  scope: readonly string[],
  { field, token }: { field: string; token: string | undefined },
): number | undefined {
  try {
    const position = cursors.decode(scope, token ?? "");
    return position === undefined ? undefined : Number(position);
  } catch (error) {
    if (error instanceof Fault && error.reason === "CURSOR_INVALID") {
      throw new Fault("CURSOR_INVALID", `${field} was not made by this call for this run: use its cursors unchanged`, {
        violations: [{ field, description: "use a cursor that this call has given to this run" }],
      });
    }
    throw error;
  }
}
