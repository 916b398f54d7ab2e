// Checks texts of agents and people: their length, and characters that the database cannot store.

import { Fault } from "../../../platform/base/fault.ts";
import { isStorableText } from "../../../platform/database/database.ts";

/**
 * Checks a text. Characters are UTF-16 units, as in the runners' language. `field` is the field's name in the message.
 * @throws Fault INVALID_ARGUMENT when the text is too long or contains U+0000.
 */
export function assertText(field: string, text: string, charsMax: number): void {
  if (text.length > charsMax) {
    throw badText(field, `must be ${charsMax} characters or fewer`);
  }
  if (!isStorableText(text)) {
    throw badText(field, "must not contain U+0000");
  }
}

function badText(field: string, description: string): Fault {
  return new Fault("INVALID_ARGUMENT", `${field} ${description}`, { violations: [{ field, description }] });
}
