// Page tokens as texts: a token is valid for its own list, and every other text is invalid.

import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Cursors } from "../../src/platform/auth/cursor.ts";

const cursors = new Cursors(randomBytes(32));
const scopes = fc.array(fc.string({ unit: "grapheme" }), { maxLength: 4 });
const positions = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("\ufffd", "0190b7c2-7b7f", "a\0b"));
/** Characters of base64url, of base64, and those that lenient decoders skip. */
const characters = fc.oneof(
  fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/= \n\t\r.!"%'),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);

function isRefused(scope: readonly string[], token: string): boolean {
  try {
    cursors.decode(scope, token);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ reason: "CURSOR_INVALID" });
    return true;
  }
}

test("a position is read back in its own list, and by its own cluster alone", () => {
  fc.assert(
    fc.property(scopes, positions, (scope, position) => {
      const token = cursors.encode(scope, position);
      expect(cursors.decode(scope, token)).toBe(position);
      expect(() => new Cursors(randomBytes(32)).decode(scope, token)).toThrow();
    }),
  );
  expect(cursors.decode([], "")).toBeUndefined();
});

test("a token with any character replaced, added or taken away is refused", () => {
  fc.assert(
    fc.property(scopes, positions, fc.nat(), characters, fc.nat({ max: 1 }), (scope, position, place, put, taken) => {
      const token = cursors.encode(scope, position);
      const at = place % (token.length + 1);
      const changed = token.slice(0, at) + put + token.slice(at + taken);
      expect(isRefused(scope, changed)).toBe(changed !== token);
      const shortened = token.slice(0, at) + token.slice(at + 1);
      expect(isRefused(scope, shortened)).toBe(shortened !== token);
    }),
    { numRuns: 5_000 },
  );
});

test("a token whose position is spelled in other bytes is refused", () => {
  const token = Buffer.from(cursors.encode(["runs"], "\ufffd"), "base64url");
  const otherBytes = Buffer.concat([token.subarray(0, -3), Buffer.from([0xff])]);
  expect(isRefused(["runs"], otherBytes.toString("base64url"))).toBe(true);
});

test("a token of one list is refused for every other", () => {
  fc.assert(
    fc.property(scopes, scopes, positions, (scope, other, position) => {
      const token = cursors.encode(scope, position);
      expect(isRefused(other, token)).toBe(JSON.stringify(other) !== JSON.stringify(scope));
    }),
    { numRuns: 1_000 },
  );
});
