// Which keys are refused: those whose point has a small order. The test finds them by the arithmetic of the curve, not by a
// list.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { importPublicKey, isWeak, thumbprint } from "../../src/platform/base/public-key.ts";

const p = 2n ** 255n - 19n;
const d = modulo(-121_665n * inverse(121_666n));

describe("a key is weak", () => {
  test("exactly when eight times its point is the neutral element", () => {
    const small = Array.from({ length: 200 }, (_, index) => BigInt(index));
    const around = small.map((y) => p - 1n - y);
    const orderEight = findOrderEightY();
    for (const y of [...small, ...around, orderEight, p - orderEight]) {
      const point = pointOf(y);
      if (point !== undefined) {
        expect(isWeak(encode(y)), String(y)).toBe(isNothing(times(8, point)));
      }
    }
    expect([0n, 1n, p - 1n, orderEight, p - orderEight].every((y) => isWeak(encode(y)))).toBe(true);
  });

  test("with either sign bit, and when its coordinate has the prime added", () => {
    for (const y of [0n, 1n, p - 1n, p, p + 1n, findOrderEightY()]) {
      expect(isWeak(encode(y))).toBe(true);
      expect(isWeak(encode(y | (1n << 255n)))).toBe(true);
    }
  });

  test("never when it is generated as usual", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        (raw) => !isWeak(raw) || raw.every((each) => each === 0),
      ),
    );
  });
});

test("the name of a key is its thumbprint, as in RFC 8037, A.3", () => {
  const raw = Buffer.from("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", "base64url");
  expect(thumbprint(raw)).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  expect(importPublicKey(raw).export({ format: "jwk" })).toMatchObject({
    crv: "Ed25519",
    x: raw.toString("base64url"),
  });
});

type Point = readonly [bigint, bigint];

function modulo(value: bigint): bigint {
  return ((value % p) + p) % p;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let [square, left] = [modulo(base), exponent]; left > 0n; left >>= 1n) {
    result = left & 1n ? modulo(result * square) : result;
    square = modulo(square * square);
  }
  return result;
}

function inverse(value: bigint): bigint {
  return power(modulo(value), p - 2n);
}

/** Returns one of the two points with this y coordinate. */
function pointOf(y: bigint): Point | undefined {
  const square = modulo((y * y - 1n) * inverse(d * y * y + 1n));
  const root = power(square, (p + 3n) / 8n);
  const x = [root, modulo(root * power(2n, (p - 1n) / 4n))].find((each) => modulo(each * each - square) === 0n);
  return x === undefined ? undefined : [x, modulo(y)];
}

function add([x1, y1]: Point, [x2, y2]: Point): Point {
  const k = modulo(d * x1 * x2 * y1 * y2);
  return [modulo((x1 * y2 + x2 * y1) * inverse(1n + k)), modulo((y1 * y2 + x1 * x2) * inverse(1n - k))];
}

function times(count: number, point: Point): Point {
  return Array.from({ length: count }).reduce<Point>((sum) => add(sum, point), [0n, 1n]);
}

function isNothing([x, y]: Point): boolean {
  return x === 0n && y === 1n;
}

/** The order of the group is 8 times a prime. A point multiplied by that prime therefore has an order of 8 or less. */
function findOrderEightY(): bigint {
  const order = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
  for (let y = 2n; ; y++) {
    const point = pointOf(y);
    const small = point && timesLarge(order, point);
    if (small && !isNothing(times(4, small))) {
      return small[1];
    }
  }
}

function timesLarge(count: bigint, point: Point): Point {
  let sum: Point = [0n, 1n];
  for (let [double, left] = [point, count]; left > 0n; left >>= 1n) {
    sum = left & 1n ? add(sum, double) : sum;
    double = add(double, double);
  }
  return sum;
}

function encode(y: bigint): Uint8Array {
  return Buffer.from(y.toString(16).padStart(64, "0"), "hex").reverse();
}
