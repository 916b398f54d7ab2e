// Inboxes that are too large are refused as a whole.

import { describe, expect, test } from "vitest";
import { commandsMax, inboxBytesMax } from "../../../src/protocols/exchange/command.ts";
import { assertCommandsFit, assertInboxFits } from "../../../src/protocols/exchange/inbox/limits.ts";
import { parseInbox } from "../../../src/protocols/exchange/inbox/parse.ts";
import { faultOf } from "../../harness/fault-of.ts";

describe("an inbox", () => {
  test.each(["x".repeat(inboxBytesMax), "é".repeat(inboxBytesMax / 2)])("of the maximum size fits", (inbox) => {
    expect(() => assertInboxFits(inbox)).not.toThrow();
  });

  test.each(["x".repeat(inboxBytesMax + 1), `${"é".repeat(inboxBytesMax / 2)}x`])(
    "over the maximum size does not fit",
    (inbox) => {
      expect(faultOf(() => assertInboxFits(inbox))).toMatchObject({
        reason: "PAYLOAD_TOO_LARGE",
        message: "the inbox has 4194305 bytes: send at most 4194304, large files in several inboxes",
      });
    },
  );

  test("has a maximum number of commands, errors included", () => {
    const wrong = "[READ_FILE]\n".repeat(commandsMax - 1);
    expect(() => assertCommandsFit(parseInbox(`${wrong}[READ_FILE path="a"]`))).not.toThrow();
    expect(faultOf(() => assertCommandsFit(parseInbox(`${wrong}[READ_FILE path="a"]\n[done]`)))).toMatchObject({
      reason: "INVALID_ARGUMENT",
      message: "invalid text: has 1001 commands: send at most 1000 in one inbox",
      violations: [{ field: "text" }],
    });
  });
});
