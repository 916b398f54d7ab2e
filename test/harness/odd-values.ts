// Values that no program sends, for every field of every body.

export const oddValues: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  Number.MAX_VALUE,
  "",
  "\u0000",
  "\ud800",
  "../../etc/passwd",
  "x".repeat(10_000),
  [],
  [null],
  [[]],
  {},
  { type: "x" },
  [{ type: "text" }],
  { __proto__: null, constructor: 1 },
];

/** Bodies that are no object. */
export const oddBodies: readonly string[] = ["", "[]", "null", "{", '{"a":', "\u0000", "[".repeat(500), '{"a":1e999}'];
