// For any output of a model: nothing throws, no text of an action is changed, and the work is linear.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/protocols/community/decisions/json.ts";
import { decisionBytesMax, parseDecision } from "../../src/protocols/community/decisions/parse.ts";
import { scanDecisions } from "../../src/protocols/community/decisions/scan.ts";

const fragments = [
  ...['{"action":"comment","communitySlug":"c1","body":"', '{"action":"tx","communitySlug":"c1"}', '"', '"}', '":"'],
  ...["{", "}", "[", "]", ",", ":", "“", "”", "/*", "*/", "//", "\n", "\r", "\t", "```", "```json\n", "<think>"],
  ...["</think>", "null", "true", "12", "-", "1e5", "action", "threadId", "communitySlug", " ", "x", "é", "😀", "\0"],
];
const nasty = fc.array(fc.constantFrom(...fragments), { maxLength: 30 }).map((list) => list.join(""));

function stringsOf(value: Json): string[] {
  if (typeof value === "string") {
    return [value];
  }
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([k, v]) => [k, ...stringsOf(v)])
    : [];
}

test("any text gives a decision, with valid actions or the reason for their absence", () => {
  fc.assert(
    fc.property(fc.oneof(nasty, fc.string({ unit: "binary" })), fc.boolean(), (output, isWrapped) => {
      const { outcome, valid, actions, error, furtherDecisions } = parseDecision(output, { isWrapped });
      expect(valid.length > 0).toBe(outcome === "execute");
      expect(error !== undefined).toBe(outcome === "error");
      expect(valid.every((each) => actions.includes(each))).toBe(true);
      expect(furtherDecisions).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 5_000 },
  );
});

test("every text in an action occurs in the output unchanged", () => {
  let executed = 0;
  fc.assert(
    fc.property(nasty, (output) => {
      const { valid } = parseDecision(output);
      executed += valid.length;
      // CR is the only character that a repair removes.
      const kept = output.replaceAll("\r", "");
      expect(valid.flatMap(stringsOf).filter((each) => !kept.includes(each))).toEqual([]);
    }),
    { numRuns: 5_000 },
  );
  expect(executed).toBeGreaterThan(50);
});

test("plain JSON has the value of JSON.parse", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (output) => {
      const value: unknown = JSON.parse(output);
      const { actions, repaired } = parseDecision(output);
      expect(JSON.stringify(actions)).toBe(JSON.stringify(Array.isArray(value) ? value : [value]));
      expect(repaired).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

const content = fc
  .array(fc.constantFrom(...fragments, "\\", "\\n", ",}", ",]", "'", "\u2028"), { maxLength: 8 })
  .map((list) => list.join(""));
const action = fc.record(
  {
    action: fc.constantFrom("comment", "tx"),
    communitySlug: fc.constant("c1"),
    body: content,
    args: fc.array(content),
  },
  { requiredKeys: ["action", "communitySlug"] },
);
const actions = fc.array(action, { minLength: 1, maxLength: 3 });

describe("the same decision is found", () => {
  const before = fc.constantFrom(
    "",
    "Sure!",
    "Use {slug} or {x: y}.",
    "See [1].",
    "[note]",
    "It's 5\" [ of",
    'a "quoted {',
    "} ]",
  );
  const after = fc.constantFrom("", "Bye.", "See [2] {slug}.", "[", "It's 5\" {", "} ]", "```\ncode { }\n```");
  const lines = fc.constantFrom("\n", "\n\n", "\r\n", "\nDecision: ");

  test("in prose and in fences", () => {
    fc.assert(
      fc.property(
        actions,
        before,
        lines,
        after,
        fc.constantFrom("", "```", "```json", "```JSON"),
        (list, lead, gap, tail, fence) => {
          const closing = fence === "" ? "" : "\n```";
          const output = `${lead}${gap}${fence}\n${JSON.stringify(list, null, 1)}${closing}\n${tail}`;
          expect(parseDecision(output)).toMatchObject({ outcome: "execute", valid: list, repaired: false });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("with every repairable error", () => {
    fc.assert(
      fc.property(actions, fc.gen(), (list, choose) => {
        const pick = (...choices: readonly string[]): string => choose(fc.constantFrom, ...choices);
        const gap = (): string => pick("", " ", "\n", '/* [x} " */', "\n// it's {\n", "\n  // “\n");
        const letter = (each: string): string =>
          each === "\n" ? pick("\n", "\\n", "\r\n") : JSON.stringify(each).slice(1, -1);
        const string = (value: string): string => {
          const letters = [...value].map(letter).join("");
          const curly = letters.replaceAll("“", "\\u201c").replaceAll("”", "\\u201d");
          return pick(`"${letters}"`, `“${curly}”`, `”${curly}”`);
        };
        const entries = (parts: readonly string[]): string =>
          gap() + parts.join(`${gap()},${gap()}`) + gap() + (parts.length === 0 ? "" : pick("", ",")) + gap();
        const write = (value: unknown): string => {
          if (typeof value === "string") {
            return string(value);
          }
          if (Array.isArray(value)) {
            return `[${entries(value.map(write))}]`;
          }
          const members = Object.entries(value as object);
          return `{${entries(members.map(([key, each]) => `${string(key)}${gap()}:${gap()}${write(each)}`))}}`;
        };
        const output = `So:\n\`\`\`json\n${write(list)}\n\`\`\``;
        expect(parseDecision(output)).toMatchObject({ outcome: "execute", valid: list, furtherDecisions: 0 });
      }),
      { numRuns: 300 },
    );
  });
});

describe("S3: the work is linear", () => {
  const repeated = [
    ...[
      "[",
      "{",
      "[[",
      '{"',
      '["',
      '{"a":',
      '{"a":"',
      '{"a":[',
      '["a",',
      "[1,",
      "[1 ",
      "[1]",
      "{}",
      "[[],",
      '[""',
      "[-",
    ],
    ...[
      '{"a":1,}',
      '{"a":x}',
      '{"a":x',
      '{"a":"b" ',
      "```",
      "```json\n",
      "```json\n{",
      "```json {“",
      "``` ",
      "/*",
      "{/*",
    ],
    ...[
      "{ ",
      "[ ",
      "\n",
      "[\n",
      "“",
      "{“a”:",
      '[{"a":1}',
      '\\"',
      '["\\"',
      '["[1"',
      "<think>",
      "}",
      '"',
      "[t",
      "a{",
      "[0.0",
    ],
    ...['```json\n{"a":"```', '[[[[["]]]]]', '{"a":"{\\"a\\":'],
  ];

  test.each(repeated)("over endless %j", (part) => {
    const text = part.repeat(Math.floor(decisionBytesMax / 4 / part.length)).trim();
    const { work } = scanDecisions(text);
    expect(work).toBeGreaterThanOrEqual(text.length);
    expect(work).toBeLessThanOrEqual(12 * text.length + 4096);
    expect(parseDecision(text).valid).toEqual([]);
  });

  test.each(["[", "{}", '{"a":', "```"])("over 1 MiB of %j", (part) => {
    expect(parseDecision(part.repeat(decisionBytesMax / part.length - 1)).valid).toEqual([]);
  });

  test("over a long list that is read again from each of many brackets, the scan gives up", () => {
    const text = `${"[".repeat(90)}${"1,".repeat(20_000)}x`;
    const { work, isExhausted } = scanDecisions(text);
    expect(isExhausted).toBe(true);
    expect(work).toBeLessThanOrEqual(12 * text.length);
    expect(parseDecision(text).error?.message).toBe("LLM output has too many brackets to parse");
  });

  test("over more than a thousand decisions, the scan gives up", () => {
    const one = '{"action":"comment","communitySlug":"c1"}\n';
    expect(parseDecision(one.repeat(1_000))).toMatchObject({ outcome: "execute", furtherDecisions: 999 });
    expect(parseDecision(one.repeat(1_001))).toMatchObject({ outcome: "error", valid: [] });
  });

  test("twice the text takes about twice the work", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...repeated), { minLength: 1, maxLength: 4 }), (parts) => {
        const small = scanDecisions(parts.join("").repeat(200)).work;
        const large = scanDecisions(parts.join("").repeat(400)).work;
        expect(large).toBeLessThanOrEqual(3 * small + 4096);
      }),
      { numRuns: 50 },
    );
  });

  test("an answer of 1 MiB is scanned a few times at most", () => {
    const entry = JSON.stringify({ action: "comment", communitySlug: "c1", threadId: "t1", body: '{["x\\'.repeat(20) });
    const list = `[${Array.from({ length: 4_000 }, () => entry).join(",\n")},]`;
    const text = `Here:\n\`\`\`json\n${list}\n\`\`\``;
    expect(parseDecision(text).valid.length).toBe(4_000);
    expect(scanDecisions(text).work).toBeLessThanOrEqual(4 * text.length);
  });
});
