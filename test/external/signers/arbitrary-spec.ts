// Random specs as text, in all spellings of JSON, most of them with content that signers easily get wrong.

import fc from "fast-check";

/**
 * Astral characters sort after U+E000 by bytes and before it by UTF-16; the others are escaped by some signers and not by
 * others.
 */
const unit = fc.oneof(
  fc.constantFrom(
    ...'<>&"\\/\b\f\n\r\t\u0000\u001f\u007f\u0085\u2028\u2029\ue000\uf8ff\ufb01\uffee\uffff',
    "\u{1f600}",
    "\u{10ffff}",
  ),
  fc.constantFrom(..."aZ09 é你"),
  fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
);

const text = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""));

/** As JSON.stringify writes it, or with every unit escaped. */
const quoted = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(value, fc.boolean()).map(([each, isEscaped]) => (isEscaped ? escapeAll(each) : JSON.stringify(each)));

function escapeAll(value: string): string {
  const units = value.split("").map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return `"${units.join("")}"`;
}

const zero = fc.constantFrom("0", "-0", "0.0", "-0.0e5", "0e0", "1e-400");

const number = fc.oneof(
  zero,
  fc.constantFrom(
    "1e21",
    "1E+21",
    "999999999999999900000",
    "1e-7",
    "0.000001",
    "1e-6",
    "9.99999e-7",
    "5e-324",
    "1.0",
    "-1.50e3",
  ),
  fc.constantFrom(
    "9007199254740993",
    "-9223372036854775808",
    "1.7976931348623157e308",
    "0.30000000000000004",
    "100",
    "1e2",
  ),
  fc.maxSafeInteger().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? "-0" : String(value))),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toExponential()),
);

const space = fc.constantFrom("", "", "", " ", "\n\t", "\r\n  ");

/**
 * Names have no backslash: once V8 has read one of them, it takes other names with escapes for it (nodejs/node#63785), and the
 * tests read specs with JSON.parse. The service has a reader of its own.
 */
const name = fc.oneof(
  text.filter((each) => !each.includes("\\")),
  fc.constantFrom("id", "created_at", "signature", "public_key", "min_success_rate", "constraints", "__proto__"),
  fc.constantFrom("constructor", "", "1", "10", "9", "a", "B"),
);

type Member = readonly [name: string, value: string];

/** Names are unique, since only the service decides what a repeated name means. */
function objectOf(members: fc.Arbitrary<readonly Member[]>): fc.Arbitrary<string> {
  const unique = members.map((all) => [...new Map(all)]);
  return fc.tuple(unique, space, fc.boolean()).map(([all, gap, isEscaped]) => {
    const write = (each: string): string => (isEscaped ? escapeAll(each) : JSON.stringify(each));
    return `{${gap}${all.map(([key, value]) => `${write(key)}${gap}:${gap}${value}`).join(`,${gap}`)}${gap}}`;
  });
}

const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("null", "{}", "[]", "true", "false", '""', '{"a":null}', '{"b":{"c":{}}}'),
    number,
    quoted(text),
    tie("object"),
    tie("array"),
  ),
  object: objectOf(fc.array(fc.tuple(name, tie("value")), { maxLength: 6 })),
  array: fc
    .tuple(fc.array(tie("value"), { maxLength: 4 }), space)
    .map(([items, gap]) => `[${items.join(`${gap},${gap}`)}]`),
}));

const constraints = fc.oneof(
  value,
  objectOf(
    fc
      .tuple(fc.oneof(zero, number), fc.array(fc.tuple(name, value), { maxLength: 3 }))
      .map(([rate, others]) => [["min_success_rate", rate], ...others]),
  ),
);

const usual = fc.record(
  { id: quoted(text), created_at: value, constraints, metadata: value, signature: value, public_key: value },
  { requiredKeys: [] },
);

/** The text of a JobSpec, which may already have a signature. */
export const specText: fc.Arbitrary<string> = objectOf(
  fc
    .tuple(usual, fc.array(fc.tuple(name, value), { maxLength: 6 }))
    .map(([known, others]): Member[] => [...others, ...Object.entries(known)]),
).filter((spec) => !spec.includes("sig_v"));
