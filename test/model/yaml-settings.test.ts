// The reader of settings against arbitrary texts: it reports each mistake and its place in its own words, and never throws,
// hangs or shows a value.

import fc from "fast-check";
import { expect, test } from "vitest";
import { settings } from "../../src/app/settings.ts";
import { readYaml, type YamlSettings } from "../../src/platform/config/yaml.ts";

/** Unlike any setting name: an unknown name is quoted in the report, since it is probably a misspelling. */
const secret = "s3cr3t/0f+th3=t3sts";

const pieces = fc.constantFrom(
  ...["server", "tls", "port", "host", "auth", "hmac_secret", "api_keys", "cors_origins", "budgets", "a"],
  ...[":", ": ", "\n", "\n  ", "\n    ", "\r\n", "\t", " ", "- ", "? ", "---\n", "...\n", "%YAML 1.2\n", "# "],
  ...[
    "[",
    "]",
    "{",
    "}",
    ",",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "!!binary ",
    "!x ",
    "|",
    ">-",
    "|2\n",
    "'",
    '"',
    "\\",
    "\\x",
  ],
  ...["~", "null", "0x1f", "1e999", ".nan", "true", "2026-11-21", "__proto__", "constructor", "toString"],
  ...["\0", "\u2028", "\ufeff", "\x85", "\ud800", "😀", "@", "`", "%", secret],
);
const valid = `server:\n  host: &a 127.0.0.1\n  port: 80\n  cors_origins: [https://a.example, *a]\nauth:\n  hmac_secret: ${secret}\n  api_keys: |\n    ada=${secret}\n`;

const texts = fc.oneof(
  fc.array(pieces, { maxLength: 40 }).map((list) => list.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
  // A valid file with something inserted or cut out.
  fc
    .record({ at: fc.nat({ max: valid.length }), taken: fc.nat({ max: 10 }), put: fc.array(pieces, { maxLength: 3 }) })
    .map(({ at, taken, put }) => valid.slice(0, at) + put.join("") + valid.slice(at + taken)),
);

function expectPlain({ settings, problems }: YamlSettings, text: string): void {
  const lines = text.split("\n").length;
  for (const problem of problems) {
    expect(problem.line).toBeGreaterThanOrEqual(1);
    expect(problem.line).toBeLessThanOrEqual(lines + 1);
    expect(problem.column).toBeGreaterThanOrEqual(1);
    expect(problem.text).toMatch(/^[\x20-\x7e]+$/);
    expect(problem.text.length).toBeLessThan(300);
  }
  for (const setting of settings.values()) {
    expect(typeof setting.text).toBe("string");
  }
}

test("every text is read or refused with its mistakes, and no value is shown", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const read = readYaml(text, settings.keys);
      expectPlain(read, text);
      expect(JSON.stringify(read.problems)).not.toContain(secret);
    }),
    { numRuns: 4_000 },
  );
});

test("aliases that refer to each other do not make it hang", () => {
  for (const text of [
    "server: &s\n  tls: *s\n",
    "&r\nserver: *r\n",
    "server: &s\n  port: *s\n",
    "server:\n  cors_origins: &l [*l, *l]\n",
    `a0: &a0 [x]\n${Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]\n`).join("")}`,
  ]) {
    expectPlain(readYaml(text, settings.keys), text);
  }
});
