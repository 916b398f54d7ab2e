// Which errors in a model's JSON are repaired, which are not, and that repairs change no text.

import { describe, expect, test } from "vitest";
import { parseDecision } from "../../src/protocols/community/decisions/parse.ts";

const comment = { action: "comment", communitySlug: "c1", threadId: "t1", body: "hi" };
const a = JSON.stringify(comment);

function withBody(body: string): string {
  return `{"action":"comment","communitySlug":"c1","threadId":"t1","body":${body}}`;
}

function bodyOf(output: string): unknown {
  const { outcome, valid, repaired } = parseDecision(output);
  expect(outcome).toBe("execute");
  return { body: valid[0]?.body, repaired };
}

function fenced(json: string): string {
  return `\`\`\`json\n${json}\n\`\`\``;
}

describe("R1: repaired", () => {
  test.each([
    ["commas before closing brackets", withBody('"x",'), "x"],
    ["comments between values", withBody('/* why: "{[ */ "x" /**/'), "x"],
    ["comments on lines of their own", withBody('"x",\n  // it\'s {"y\n  // and ]\n"z":1'), "x"],
    ["raw line breaks in strings", withBody('"a\r\nb\n\rc"'), "a\nb\nc"],
    ["curly quotes around strings", withBody("“x”"), "x"],
    ["curly quotes that all look the same way", withBody("”x”"), "x"],
    ["curly quotes, escapes inside", withBody('“a \\" \\u201c \\\\ b”'), 'a " “ \\ b'],
  ])("%s", (_, output, body) => {
    expect(bodyOf(output)).toEqual({ body, repaired: true });
  });

  test("a comment or a curly quote at the beginning, in a block", () => {
    expect(bodyOf(fenced(`// my decision\n${a}`))).toEqual({ body: "hi", repaired: false });
    expect(bodyOf(fenced(`/* my decision */ {\n// first\n“action”:“comment”,“communitySlug”:“c”,“body”:“x”}`))).toEqual(
      {
        body: "x",
        repaired: true,
      },
    );
  });
});

describe("not repaired: an error, and nothing is executed", () => {
  test.each([
    ["tabs in strings", withBody('"a\tb"')],
    ["other control characters in strings", withBody('"a\u0000b"')],
    ["single quotes", withBody("'x'")],
    ["bare names", '{"action":"comment","communitySlug":"c1",body:"x"}'],
    ["comments behind a value on its line", withBody('"x" // why\n')],
    ["words of Python", withBody("None")],
    ["numbers that JSON does not have", withBody("0x10")],
    ["a zero too many", withBody("01")],
    ["no comma", '{"action":"comment" "communitySlug":"c1"}'],
    ["two commas", withBody('"x",,')],
    ["unknown escapes", withBody('"\\x41"')],
    ["a line break behind a backslash", withBody('"a\\\nb"')],
    ["a straight quote in curly ones", withBody('“say "x"”')],
  ])("%s", (_, output) => {
    expect(parseDecision(output)).toMatchObject({ outcome: "error", valid: [], error: { class: "SyntaxError" } });
  });
});

test("a string that ends in the other kind of quote swallows the rest, which is an error", () => {
  const output = '{"a":"x”,"action":"comment","communitySlug":"c1"}';
  expect(parseDecision(output)).toMatchObject({ outcome: "error", valid: [], actions: [] });
});

describe("strings are unchanged", () => {
  test.each([
    "a /* keep */ b",
    "// keep",
    "line\\n// keep",
    "[1, 2,] and {x,}",
    "“curly”, ‘single’",
    "```json\\n[]\\n```",
    "<think>x</think>",
    "http://example.org//x",
  ])("%j, although other parts are repaired", (body) => {
    const value: unknown = JSON.parse(`"${body}"`);
    expect(bodyOf(withBody(`"${body}",`))).toEqual({ body: value, repaired: true });
    expect(bodyOf(fenced(`[${withBody(`"${body}",`)},]`))).toEqual({ body: value, repaired: true });
  });

  test("the last of repeated names counts, and __proto__ is an ordinary name", () => {
    const { valid } = parseDecision(
      '{"action":"x","action":"comment","communitySlug":"c","__proto__":{"admin":true},}',
    );
    expect(JSON.stringify(valid)).toBe('[{"action":"comment","communitySlug":"c","__proto__":{"admin":true}}]');
    expect(Object.getPrototypeOf(valid[0])).toBe(Object.prototype);
  });
});

describe("R3: the log lists", () => {
  test("each action type once, trimmed, even of invalid actions", () => {
    const output = `[${a},{"action":" tx "},{"action":5},{"action":""},"x",${a}]`;
    expect(parseDecision(output).strictActionTypes).toEqual(["comment", "tx"]);
  });

  test("no action type when an entry was repaired, all when only the text between entries was", () => {
    expect(parseDecision(`[${a},${withBody('"a\nb"')}]`)).toMatchObject({ repaired: true, strictActionTypes: [] });
    expect(parseDecision(`[${a},\n// and\n${a},]`)).toMatchObject({ repaired: false, strictActionTypes: ["comment"] });
  });
});

describe("numbers are unchanged", () => {
  test.each([
    ["0", 0],
    ["-0", -0],
    ["9007199254740991", 9007199254740991],
    ["1e3", 1000],
    ["0.1", 0.1],
    ["123456.789", 123456.789],
  ])("%s is a number", (text, value) => {
    expect(bodyOf(withBody(text))).toEqual({ body: value, repaired: false });
  });

  test.each([
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "1000000000000000000000000000000",
    "1e30",
    "1e400",
    "1e-400",
    "0.1000000000000000055511151231257827",
    "1.00000000000000000001",
    "9007199254740992.5",
  ])("%s stays text", (text) => {
    const { valid } = parseDecision(withBody(text));
    expect(JSON.stringify(valid)).toBe(`[${withBody(text)}]`);
    expect(typeof valid[0]?.body).toBe("object");
  });
});
