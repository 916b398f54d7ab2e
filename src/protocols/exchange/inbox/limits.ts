// Limits of an inbox: it is refused as a whole before any part of it counts.

import { Fault, invalidField } from "../../../platform/base/fault.ts";
import { type Command, commandsMax, inboxBytesMax } from "../command.ts";

/**
 * Checks the size of an inbox.
 * @throws Fault PAYLOAD_TOO_LARGE when it is larger than `inboxBytesMax`.
 */
export function assertInboxFits(inbox: string): void {
  const bytes = Buffer.byteLength(inbox);
  if (bytes > inboxBytesMax) {
    throw new Fault(
      "PAYLOAD_TOO_LARGE",
      `the inbox has ${bytes} bytes: send at most ${inboxBytesMax}, large files in several inboxes`,
    );
  }
}

/**
 * Checks the number of commands.
 * @throws Fault INVALID_ARGUMENT when an inbox has more than `commandsMax`.
 */
export function assertCommandsFit({ length }: readonly Command[]): void {
  if (length > commandsMax) {
    throw invalidField("text", `has ${length} commands: send at most ${commandsMax} in one inbox`);
  }
}
