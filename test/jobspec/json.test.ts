// The strict JSON parser against JSON.parse: it accepts the same texts with the same values, except for intentional refusals,
// and its errors name the position.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JsonTextError } from "../../src/platform/base/json/text.ts";
import { isObject, type Json, readDocument } from "../../src/protocols/jobspec/verification/json.ts";

/** Returns undefined when the text is invalid. */
function read(text: string): Json | undefined {
  try {
    return readDocument(Buffer.from(text)).object;
  } catch (error) {
    if (error instanceof JsonTextError) {
      return undefined;
    }
    throw error;
  }
}

/** Reads with JSON.parse, and converts to the parser's types. */
function readByLanguage(text: string): Json | undefined {
  try {
    const value = toJson(JSON.parse(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function toJson(value: unknown): Json {
  if (typeof value === "string") {
    return value.toWellFormed();
  }
  if (Array.isArray(value)) {
    return value.map(toJson);
  }
  return typeof value === "object" && value !== null
    ? new Map(Object.entries(value).map(([name, each]) => [name.toWellFormed(), toJson(each)]))
    : (value as Json);
}

const gap = fc.constantFrom("", "", " ", "\n", "\t", "\r\n");
const scalar = fc.oneof(
  fc.constantFrom("0", "-0", "00", "01", "1", "-1", "-", "+1", ".5", "1.", "1.5", "1e5", "1E+5", "1e"),
  fc.constantFrom(
    "123456789012345",
    "999999999999999",
    "1234567890123456",
    "12345678901234567890",
    "0e1",
    "0x1",
    "1_0",
    "2.50",
  ),
  fc.constantFrom(
    "true",
    "false",
    "null",
    "nul",
    "True",
    "NaN",
    "undefined",
    '"',
    '"\\u12"',
    '"\\x"',
    '"\\"',
    '"\\\\"',
    "'a'",
  ),
  fc.constantFrom(
    '"\\u0041\\n\\/"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"\n"',
    '"\u007f\u0085"',
    '"a\\"b"',
    '"\u2028"',
    '"\\\\\\""',
  ),
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  fc.double().map(String),
  fc.maxSafeInteger().map(String),
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc
      .tuple(fc.array(tie("value"), { maxLength: 3 }), gap)
      .map(([items, space]) => `[${space}${items.join(`${space},`)}]`),
    fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom("a", "b", "1", "__proto__", "\\u0061"), tie("value")), { maxLength: 3 }),
        gap,
      )
      .map(
        ([members, space]) =>
          `{${members.map(([name, each]) => `${space}"${name}"${space}:${each}`).join(",")}${space}}`,
      ),
  ),
}));
const spec = fc.tuple(gap, value).map(([space, each]) => `${space}{"a":${each}}${space}`);
const edit = fc.record({
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  put: fc.constantFrom("", ...' \n\u0000"\\,:{}[]0-+.eEtna/\u{1f600}'),
});

function apply(text: string, { at, put }: { at: number; put: string }): string {
  const units = [...text];
  units[Math.floor(at * units.length)] = put;
  return units.join("").toWellFormed();
}

/** Such numbers are refused, even before a later member of the same name, which hides them from JSON.parse. */
function hasTooLargeNumber(text: string): boolean {
  return [...text.matchAll(/\d[\d.eE+-]*/g)].some(([number]) => Number(number) === Number.POSITIVE_INFINITY);
}

/** Maps are compared without order: objects of the language move names that look like numbers. */
test("it accepts what JSON.parse accepts, with the same values", () => {
  fc.assert(
    fc.property(spec, (text) => {
      expect(read(text)).toEqual(readByLanguage(text));
    }),
    { numRuns: 3_000 },
  );
});

test("it agrees with JSON.parse on texts with a random edit", () => {
  fc.assert(
    fc.property(spec, edit, (text, change) => {
      const changed = apply(text, change);
      fc.pre(!hasTooLargeNumber(changed));
      expect(read(changed)).toEqual(readByLanguage(changed));
    }),
    { numRuns: 3_000 },
  );
});

describe("errors name the position", () => {
  test.each([
    ['{"a":"x\\qy"}', "invalid escape in a string, at line 1, column 8"],
    ['{"a":"\\u12"}', "invalid escape in a string, at line 1, column 7"],
    ['{"a":"x\ty"}', 'unexpected character "\\t" in a string: escape it, at line 1, column 8'],
    ['{"a":"\\n\ty"}', 'unexpected character "\\t" in a string: escape it, at line 1, column 9'],
    ['{\n"a":"x', "unexpected EOF"],
    ['{"a":"x\\"', "unexpected EOF"],
    ['{"a":01}', 'unexpected character "1" instead of a comma or }, at line 1, column 7'],
    ['{"a":1e400}', "the number is too large for a float64, at line 1, column 6"],
    ['{"a":-}', 'unexpected character "-" instead of a value, at line 1, column 6'],
    ['{"a":1,}', 'unexpected character "}" instead of a key in double quotes, at line 1, column 8'],
    ['{"a":tru}', 'unexpected character "t" instead of a value, at line 1, column 6'],
  ])("%j: %s", (text, told) => {
    expect(() => readDocument(Buffer.from(text))).toThrow(new JsonTextError(told));
  });
});

test("values that change in parsing are reported with their paths", () => {
  const text =
    '{"a":1,"b":[{"~/":"\\ud800"},9007199254740993,{"c":1,"c":{"d":-12345678901234567890}}],"\\udc00":1,"a":2}';
  expect(readDocument(Buffer.from(text)).remarks).toEqual([
    { what: "lone_surrogate", path: "/b/0/~0~1" },
    { what: "inexact_integer", path: "/b/1" },
    { what: "inexact_integer", path: "/b/2/c/d" },
    { what: "duplicate_key", path: "/b/2/c" },
    { what: "lone_surrogate", path: "" },
    { what: "duplicate_key", path: "/a" },
  ]);
});
