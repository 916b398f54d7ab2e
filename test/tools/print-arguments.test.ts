import { expect, test } from "vitest";
import { printArguments } from "../../src/agent/tools/print-arguments.ts";

test("keys are sorted on every level, and no text can end a script", () => {
  const args = JSON.parse('{"b":[{"z":1,"a":null}],"a":"<&>\\u2028","__proto__":{"x":1},"10":1,"2":2}');
  expect(printArguments(args, undefined)).toEqual({
    json: '{"10":1,"2":2,"__proto__":{"x":1},"a":"\\u003c\\u0026\\u003e\\u2028","b":[{"a":null,"z":1}]}',
  });
});

test("arguments that are too deep or too large are refused", () => {
  const nest = (levels: number): Record<string, unknown> => (levels === 1 ? {} : { a: nest(levels - 1) });
  expect(printArguments(nest(63), undefined)).toHaveProperty("json");
  expect(printArguments(nest(64), undefined)).toEqual({ problem: "nested more than 63 levels deep" });
  expect(printArguments(JSON.parse(`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`), undefined)).toHaveProperty(
    "problem",
  );
  expect(printArguments({ a: "x".repeat(1_048_576) }, undefined)).toEqual({
    problem: "too large: 1048584 bytes (max 1048576)",
  });
});

test("integers keep all digits of the text, in the order of the keys", () => {
  const written = '{"z":1.0,"id":2512292042121000001,"deep":[-9007199254740993,1e400]}';
  expect(printArguments(JSON.parse(written), written)).toEqual({
    json: '{"deep":[-9007199254740993,1e400],"id":2512292042121000001,"z":1}',
  });
});
