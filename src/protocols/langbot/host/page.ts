// What all pages of the host have in common: how many, and from where.

import type { Cursors } from "../../../platform/auth/cursor.ts";
import { Fault, invalidField } from "../../../platform/base/fault.ts";

const pageItemsDefault = 50;
/** Of pages and of lists of keys. */
export const pageItemsMax = 100;
/** Of the items of a page, so that with one more of the largest it is a message that clients take. */
export const pageBytesMax = 1_048_576;

/** Throws INVALID_ARGUMENT for a negative number; 0 means the default, and what is more than the most means the most. */
export function countOf(
  field: string,
  asked: number,
  { usual = pageItemsDefault, max = pageItemsMax }: { usual?: number; max?: number } = {},
): number {
  if (asked < 0) {
    throw invalidField(field, "it is negative: leave it out, or say how many");
  }
  return Math.min(asked === 0 ? usual : asked, max);
}

/** The number that a cursor stands for; undefined where there is none. */
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
