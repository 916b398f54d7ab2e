// What agents and people write: how long it may be, and what the store cannot hold.

import { Fault } from "../../../platform/base/fault.ts";
import { isStorableText } from "../../../platform/database/database.ts";

/** Characters are UTF-16 units, as in the runners' language. `field` is the name that the message has. */
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
