// What is refused as a whole before anything of an inbox counts.

import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { type Command, commandsMax, inboxBytesMax } from "../command.ts";

/** Throws PAYLOAD_TOO_LARGE. */
export function assertInboxFits(inbox: string): void {
  const bytes = Buffer.byteLength(inbox);
  if (bytes > inboxBytesMax) {
    throw new Fault(
      "PAYLOAD_TOO_LARGE",
      `the inbox has ${bytes} bytes: send at most ${inboxBytesMax}, large files in several inboxes`,
    );
  }
}

/** Throws INVALID_ARGUMENT. */
export function assertCommandsFit({ length }: readonly Command[]): void {
  if (length > commandsMax) {
    throw invalidField("text", `has ${length} commands: send at most ${commandsMax} in one inbox`);
  }
}
