// Which bytes are UTF-8 text, and the position at which other bytes stop being text.

import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeUtf8 } from "../../src/platform/base/utf8.ts";

test("text is decoded unchanged, except for one byte order mark at its start", () => {
  expect(decodeUtf8(Buffer.from("a\0é\ufffd😀\r\n"))).toEqual({ text: "a\0é\ufffd😀\r\n" });
  expect(decodeUtf8(new Uint8Array())).toEqual({ text: "" });
  expect(decodeUtf8(Buffer.from("\ufeff\ufeff[DONE]\ufeff"))).toEqual({ text: "\ufeff[DONE]\ufeff" });
});

test.each([
  ["a lone continuation byte", [0x61, 0x80], 1],
  ["a character that is cut by the end", [0x61, 0x62, 0xef, 0xbf], 2],
  ["a character that is cut by another", [0xc3, 0xa9, 0xe2, 0x82, 0x61], 2],
  ["a replacement that stands there before it", [0xef, 0xbf, 0xbd, 0xff], 3],
  ["a mark at the start before it", [0xef, 0xbb, 0xbf, 0xff], 3],
  ["half of a surrogate pair", [0x61, 0xed, 0xa0, 0x80], 1],
  ["a character beyond the last", [0x61, 0xf4, 0x90, 0x80, 0x80], 1],
  ["the mark of UTF-16", [0xff, 0xfe, 0x5b, 0x00], 0],
  ["an overlong slash", [0xc0, 0xaf], 0],
] as const)("the position of the first invalid byte is returned: %s", (_what, bytes, invalidAt) => {
  expect(decodeUtf8(Uint8Array.from(bytes))).toEqual({ invalidAt });
});

test("an invalid byte is reported at the end of the valid text, before any bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 20 }), fc.uint8Array({ maxLength: 6 }), (good, rest) => {
      const start = Buffer.from(good);
      expect(decodeUtf8(Buffer.concat([start, Buffer.of(0xff), rest]))).toEqual({ invalidAt: start.length });
    }),
  );
});
