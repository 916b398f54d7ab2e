// Page tokens are valid only for the list and the client for which they were made.

import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Cursors } from "../../src/platform/auth/cursor.ts";

const cursors = new Cursors(randomBytes(32));
const scope = ["runs", "shared/a", "session"];
const refused = expect.objectContaining({ reason: "CURSOR_INVALID" });

function decode(from: readonly string[], token: string): unknown {
  try {
    return cursors.decode(from, token);
  } catch (error) {
    return error;
  }
}

test("a position can be read back in its own list", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string({ unit: "grapheme" }), (names, position) => {
      expect(decode(names, cursors.encode(names, position))).toBe(position);
    }),
  );
  expect(decode(scope, "")).toBeUndefined();
});

test("a token with any bit changed, cut off or added is refused", () => {
  const token = Buffer.from(cursors.encode(scope, "position"), "base64url");
  for (let bit = 0; bit < token.length * 8; bit++) {
    const changed = Buffer.from(token);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(decode(scope, changed.toString("base64url"))).toEqual(refused);
  }
  for (let length = 1; length < token.length; length++) {
    expect(decode(scope, token.subarray(0, length).toString("base64url"))).toEqual(refused);
  }
  expect(decode(scope, Buffer.concat([token, Buffer.from("x")]).toString("base64url"))).toEqual(refused);
});

test.each([
  ["another client", ["runs", "shared/b", "session"]],
  ["another list", ["sessions", "shared/a", "session"]],
  ["another selection", ["runs", "shared/a", "other"]],
  ["names that only join to the same text", ["runs", "shared/asession"]],
])("a token is refused for %s", (_, other) => {
  expect(decode(other, cursors.encode(scope, "position"))).toEqual(refused);
});

test("a token of another cluster is refused", () => {
  expect(decode(scope, new Cursors(randomBytes(32)).encode(scope, "position"))).toEqual(refused);
});
