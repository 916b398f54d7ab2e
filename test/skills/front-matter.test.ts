// The front matter of a SKILL.md: what the format allows, and the reason of each refusal.

import { expect, test } from "vitest";
import { isSkillName, readFrontMatter } from "../../src/agent/skills/front-matter.ts";

const head = (yaml: string) => readFrontMatter(`---\n${yaml}\n---\n# Body\n`, "pdf-tools");
const named = (yaml: string) => head(`name: pdf-tools\n${yaml}`);

test.each([
  "description: Reads PDFs.",
  'description: "Reads PDFs."',
  "description: >-\n  Reads\n  PDFs.",
  "description: |\n  Reads\n\n  PDFs.\n",
  "description: Reads PDFs.\nlicense: MIT\ncompatibility: Needs python3\nmetadata:\n  author: me\n  version: 1.0\nallowed-tools: Bash(git:*) Read",
  "description: Reads PDFs.\nallowed-tools: [Read, Bash]\nmodel: other\nfuture: {a: [1, 2]}",
  "description: Reads PDFs.\nlicense:\nmetadata:",
])("is read, and the description is one line (%#)", (yaml) => {
  expect(named(yaml)).toEqual({ name: "pdf-tools", description: "Reads PDFs." });
});

test("may have Windows line ends, and text behind it", () => {
  const text = "---\r\nname: pdf-tools\r\ndescription: Reads PDFs.\r\n---\r\nText\n---\nMore";
  expect(readFrontMatter(text, "pdf-tools")).toEqual({ name: "pdf-tools", description: "Reads PDFs." });
  expect(readFrontMatter("---\nname: pdf-tools\ndescription: d\n---", "pdf-tools")).toMatchObject({ description: "d" });
});

const bomb = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  ..."bcdefghi".split("").map((name, index) => {
    const before = `*${"abcdefgh"[index]}`;
    return `${name}: &${name} [${Array(9).fill(before).join(", ")}]`;
  }),
  "description: d",
].join("\n");

test.each([
  ["", /does not begin with front matter/],
  ["# Only text", /does not begin with front matter/],
  ["---\nname: pdf-tools\ndescription: d\n", /does not begin with front matter/],
  ["\n---\nname: pdf-tools\ndescription: d\n---\n", /does not begin with front matter/],
  ["---\n---\n", /not a valid YAML mapping/],
  ["---\n- a\n---\n", /not a valid YAML mapping/],
  ["---\nname: [\n---\n", /not a valid YAML mapping/],
  ["---\nname: pdf-tools\nname: pdf-tools\ndescription: d\n---\n", /not a valid YAML mapping.*each key once/],
  [`---\nname: pdf-tools\n${bomb}\n---\n`, /not a valid YAML mapping without aliases/],
  [`---\nname: pdf-tools\ndescription: d\nx: ${"[".repeat(8_000)}\n---\n`, /not a valid YAML mapping/],
  [
    `---\nname: pdf-tools\ndescription: d\nx: ${"[".repeat(7_900)}${"]".repeat(7_900)}\n---\n`,
    /not a valid|maximum|^$/,
  ],
  [
    `---\nname: pdf-tools\ndescription: d\nx: ${"y".repeat(16_384)}\n---\n`,
    /front matter has \d+ bytes, maximum 16384/,
  ],
])("is refused when it is not front matter (%#)", (text, problem) => {
  const read = readFrontMatter(text, "pdf-tools");
  expect("problem" in read ? read.problem : "").toMatch(problem);
});

test.each([
  ["name: other\ndescription: d", /^name must be "pdf-tools"/],
  ["description: d", /^name must be/],
  ["name: 7\ndescription: d", /^name must be/],
  ["name: pdf-tools", /^description must be/],
  ["name: pdf-tools\ndescription: '  '", /^description must be/],
  ["name: pdf-tools\ndescription: 7", /^description must be/],
  [`name: pdf-tools\ndescription: ${"x".repeat(1_025)}`, /^description must be a text of 1 to 1024/],
  ['name: pdf-tools\ndescription: "a\\eb"', /^description contains a control/],
  ['name: pdf-tools\ndescription: "a\\0b"', /^description contains a control/],
  ['name: pdf-tools\ndescription: "a\\u202Eb"', /^description contains a control/],
  ['name: pdf-tools\ndescription: "a\\U000E0041b"', /^description contains a control/],
  ['name: pdf-tools\ndescription: "a\\uD800b"', /^description contains a control|not a valid YAML/],
  ["name: pdf-tools\ndescription: d\nlicense: [MIT]", /^license/],
  [`name: pdf-tools\ndescription: d\ncompatibility: ${"x".repeat(501)}`, /^compatibility/],
  ["name: pdf-tools\ndescription: d\nmetadata: text", /^metadata/],
  ["name: pdf-tools\ndescription: d\nmetadata: {a: {b: c}}", /^metadata/],
  ["name: pdf-tools\ndescription: d\nallowed-tools: {a: b}", /^allowed-tools/],
])("is refused when a field is wrong, by its name (%#)", (yaml, problem) => {
  const read = head(yaml);
  expect("problem" in read ? read.problem : "").toMatch(problem);
});

test.each([
  ["a", true],
  ["pdf-2-text", true],
  ["x".repeat(64), true],
  ["x".repeat(65), false],
  ["", false],
  ["-a", false],
  ["a-", false],
  ["a--b", false],
  ["A", false],
  ["a_b", false],
  ["..", false],
  ["a/b", false],
  ["é", false],
])("%j is a name: %s", (name, expected) => {
  expect(isSkillName(name)).toBe(expected);
});
